"""Decisions learned from in equivalent forms: the same game, nothing at all when off, and exact when cut off."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardlab.core.messages import InvalidOption
from cardlab.games.array_checks import unchecked
from cardlab.games.make_game import make_game
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.rules import NUM_CELLS
from cardlab.games.protocol import HasSymmetries, InfoStates
from cardlab.games.record_arrays import copied
from cardlab.learners.ppo.options import PPOOptions
from cardlab.learners.rollouts.opponents.fixed import SelfPlayOptions
from cardlab.networks.mlp_options import MLPOptions
from cardlab.training.experiment import Experiment
from learners.kuhn_training import kuhn_experiment
from small_games.kuhn import Kuhn
from training.test_resume import Interrupted, Interrupter, run

GAME = PokerSquares(features="paper")
AGENTS = ("ppo", "dqn", "dqn_bootstrap", "dqn_averaged", "td")
ROUNDS = 4


def decisions(turn: int, seed: int, num: int = 60) -> tuple[InfoStates, Any]:
    """Info states after `turn` random moves, and a random legal action in each."""
    rng = np.random.default_rng(seed)
    states = GAME.deal(num, rng)
    for _ in range(turn):
        GAME.apply(states, random_actions(states, rng))
    return GAME.information(states, np.zeros(num, dtype=np.int8)), random_actions(states, rng)


def random_actions(states: Any, rng: np.random.Generator) -> Any:
    legal = GAME.legal_actions(states)
    return (legal * rng.random(legal.shape)).argmax(axis=1).astype(np.int16)


@given(turn=st.integers(0, NUM_CELLS - 1), seed=st.integers(0, 10_000))
def test_what_an_action_leads_to_is_varied_with_it(turn: int, seed: int) -> None:
    """The afterstate of the form is that form of the afterstate, and worth the same to whoever counts points."""
    info_states, actions = decisions(turn, seed)
    varied, moves = GAME.augment(info_states, actions, np.random.default_rng(seed))
    assert varied.dtype == info_states.dtype
    assert moves.dtype == actions.dtype
    assert GAME.legal_actions(varied)[np.arange(len(moves)), moves].all()
    after = copied(info_states)
    GAME.apply(after, actions)
    GAME.apply(varied, moves)
    assert varied.tobytes() == GAME.augment(after, actions, np.random.default_rng(seed))[0].tobytes()
    assert np.array_equal(GAME.partial_value(varied), GAME.partial_value(after))
    assert np.array_equal(GAME.payoffs(varied), GAME.payoffs(after))


def test_decisions_have_forms_of_their_own() -> None:
    info_states, _ = decisions(10, 0, num=1)
    same = InfoStates(np.repeat(info_states, 200))
    varied, moves = GAME.augment(same, np.zeros(200, dtype=np.int16), np.random.default_rng(1))
    assert len({record.tobytes() for record in varied}) > 190
    assert set(moves) == set(range(NUM_CELLS))


def experiment_of(agent: str, *, symmetries: bool) -> Experiment:
    experiment = kuhn_experiment(agent, rounds=ROUNDS)
    options = replace(experiment.agent, symmetries=symmetries, decisions_per_iteration=200, minibatch_size=50)
    if agent.startswith("dqn"):
        options = replace(options, updates_per_iteration=2)
    short = {
        "decisions": ROUNDS * 200,
        "parallel_games": 16,
        "checkpoint_seconds": 0.0,
        "evaluation_deals": 2,
        "snapshots": 0,
    }
    trainer = replace(experiment.trainer, **short)
    return replace(experiment, game=GAME, agent=options, opponents=SelfPlayOptions(), trainer=trainer)


@pytest.mark.parametrize("agent", AGENTS)
def test_only_where_it_is_asked_for(agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every decision of every minibatch is varied, once, and successors apart from it; without the option none is."""
    asked: list[int] = []
    augment = PokerSquares.augment

    def counted(game: PokerSquares, info_states: Any, actions: Any, rng: np.random.Generator) -> Any:
        asked.append(len(actions))
        return augment(game, info_states, actions, rng)

    monkeypatch.setattr(type(unchecked(GAME)), "augment", counted)  # the learner's game
    plain = run(experiment_of(agent, symmetries=False), tmp_path / "plain")
    assert not asked
    varied = run(experiment_of(agent, symmetries=True), tmp_path / "varied")
    assert plain.digest != varied.digest
    epochs = {"ppo": 4, "td": 1}
    if agent in epochs:
        assert sum(asked) == pytest.approx(epochs[agent] * varied.decisions, rel=0.1)
    else:
        drawn = ROUNDS * 2 * (2 if agent == "dqn_bootstrap" else 1)
        assert asked == [50] * drawn


@pytest.mark.parametrize("agent", AGENTS)
def test_a_cut_off_run_ends_the_same(agent: str, tmp_path: Path) -> None:
    experiment = experiment_of(agent, symmetries=True)
    whole = run(experiment, tmp_path / "whole")
    with pytest.raises(Interrupted):
        run(experiment, tmp_path / "cut", Interrupter(2))
    assert run(experiment, tmp_path / "cut").digest == whole.digest


def test_games_without_symmetries_are_refused() -> None:
    assert isinstance(GAME, HasSymmetries)
    assert not any(isinstance(make_game(name), HasSymmetries) for name in ("five_o", "open_face", "big2", "thirty_one"))
    experiment = kuhn_experiment("ppo")
    options = replace(experiment.agent, symmetries=True)
    with pytest.raises(InvalidOption, match=r"^agent\.symmetries=true: must be false: kuhn has none$"):
        options.build(Kuhn(), experiment.network.build(Kuhn().spec), 1, 0)


def test_a_critic_that_sees_all_cards_is_refused_beside_them() -> None:
    """It would see the hidden cards of the original form."""
    options = PPOOptions(critic="all_cards", symmetries=True)
    with pytest.raises(InvalidOption, match=r"agent\.symmetries=true: must be false: agent\.critic=all_cards"):
        options.build(GAME, MLPOptions(widths=(8,)).build(GAME.spec), 1, 0)
