"""cardlab.testing: parts that keep their promises pass; a broken one fails with one sentence that names the fault."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from cardlab.agents.exploration import RandomAgent
from cardlab.core.messages import InvalidConfiguration
from cardlab.experiments.config.build_parts import build_game
from cardlab.games.base import BaseGame
from cardlab.games.protocol import States
from cardlab.learners.ppo.learner import PPOLearner
from cardlab.learners.ppo.options import PPOOptions
from cardlab.learners.td.options import TDOptions
from cardlab.networks.mlp import MLP
from cardlab.networks.mlp_options import MLPOptions
from cardlab.testing import CheckFailed, check_agent, check_game, check_learner, check_network
from small_games.kuhn import SPEC, Kuhn

PPO = PPOOptions(decisions_per_iteration=64, minibatch_size=32)
SMALL = MLPOptions(widths=(8,))
ABILITIES = {"augment is left out: no agent.symmetries"}


def test_parts_that_keep_their_promises_pass() -> None:
    assert set(check_game(Kuhn())) == ABILITIES
    check_agent(Kuhn(), RandomAgent(Kuhn()))
    check_network(Kuhn(), SMALL)
    for learner in (PPO, TDOptions(decisions_per_iteration=64, minibatch_size=32)):
        check_learner(Kuhn(), learner, SMALL)


def test_what_a_game_leaves_out_is_listed() -> None:
    left_out = check_game(WithoutDeterminize())
    blanked = (
        "determinize is left out: no check finds a leak; information blanks cards, and shows all of moves, num_moves"
    )
    assert set(left_out) == {*ABILITIES, "determinize is left out: no search, and no agent.successors", blanked}


def test_the_list_shows_a_leak_that_no_check_finds() -> None:
    blanked = [line for line in check_game(PeeksWithoutDeterminize()) if "leak" in line]
    assert len(blanked) == 1
    assert "information blanks nothing" in blanked[0]


@dataclass(frozen=True)
class WithoutDeterminize(Kuhn):
    determinize = BaseGame.determinize


class Peeks(Kuhn):
    def information(self, states, players):
        return states.copy()


class PeeksWithoutDeterminize(Peeks):
    determinize = BaseGame.determinize


class NoActionForTheSecond(Kuhn):
    def legal_actions(self, states):
        return super().legal_actions(states) & (self.current_player(states) == 0)[:, None]


class SettlesUnseenShowdowns(Kuhn):
    def is_over(self, states):
        return self.current_player(states) < 0


class Forgets(Kuhn):
    def determinize(self, info_states, players, rng, weights=None):
        return self.deal(len(info_states), rng)


class NarrowPayoffs(Kuhn):
    spec = replace(SPEC, payoff_range=(-1.0, 1.0))


class ShortGames(Kuhn):
    spec = replace(SPEC, max_decisions=2)


class NotZeroSum(Kuhn):
    def payoffs(self, states):
        return super().payoffs(states).clip(min=0)


class DoublePayoffs(Kuhn):
    def payoffs(self, states):
        return super().payoffs(states).astype(np.float64)


class LargeNumbers(Kuhn):
    def observe(self, info_states, players):
        return 100 * super().observe(info_states, players)


class PlaysOn(Kuhn):
    def legal_actions(self, states):
        return np.ones((len(states), 2), dtype=np.bool_)


class OwnChance(Kuhn):
    def deal(self, num_games, rng, decks=None, seeds=None):
        return super().deal(num_games, np.random.default_rng(), decks)


class TellsNothingApart(Kuhn):
    def action_text(self, info_state, action):
        return "move"


class AppliesToACopy(Kuhn):
    def apply(self, states, actions):
        states = states.copy()
        super().apply(states, actions)


class ReturnsStates(Kuhn):
    def apply(self, states, actions):
        super().apply(states, actions)
        return states


class DealsTheSameCardTwice(Kuhn):
    def determinize(self, info_states, players, rng, weights=None):
        states, rows = info_states.copy(), np.arange(len(info_states))
        states["cards"][rows, 1 - players] = rng.integers(3, size=len(rows))
        return States(states)


class IgnoresDecks(Kuhn):
    def deal(self, num_games, rng, decks=None, seeds=None):
        return super().deal(num_games, rng)


class NoFeatures(Kuhn):
    spec = replace(SPEC, action_blocks=())


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (Peeks, "information depends on what the player cannot know"),
        (AppliesToACopy, "apply left a record as it was: change it in place"),
        (ReturnsStates, "apply must change the records in place and return nothing"),
        (DealsTheSameCardTwice, "determinize makes a state that deal never makes"),
        (Forgets, "determinize changes what the player knows"),
        (NarrowPayoffs, "spec.payoff_range is -1 to 1: widen it"),
        (ShortGames, "raise spec.max_decisions=2"),
        (NotZeroSum, "set spec.zero_sum=False"),
        (DoublePayoffs, "payoffs must be float32, not float64"),
        (LargeNumbers, "observe has 100: divide"),
        (NoActionForTheSecond, "legal_actions must have an action for the current player"),
        (SettlesUnseenShowdowns, "payoffs differs from the true one: where a hidden card decides"),
        (PlaysOn, "legal_actions must be all False when the game is over"),
        (OwnChance, "take all chance from the `rng` of deal"),
        (TellsNothingApart, "action_text must differ between actions"),
        (IgnoresDecks, "deal must use `decks`, where they are given"),
        (NoFeatures, "action_features and spec.action_blocks belong together"),
    ],
)
def test_a_broken_game_fails_with_what_to_change(game: type[Kuhn], said: str) -> None:
    with pytest.raises(CheckFailed, match=r"^.+$") as raised:
        check_game(game())
    assert said in str(raised.value)


@pytest.mark.parametrize("game", [DoublePayoffs, NoActionForTheSecond, NoFeatures])
def test_a_command_refuses_a_broken_game_before_it_begins(game: type[Kuhn]) -> None:
    with pytest.raises(InvalidConfiguration, match=r"^game=kuhn: (payoffs|legal_actions|action_features)"):
        build_game({"_target_": f"{game.__module__}.{game.__name__}", "name": "kuhn"})


def test_a_command_takes_a_game_of_large_numbers() -> None:
    assert build_game({"_target_": f"{LargeNumbers.__module__}.LargeNumbers", "name": "kuhn"}) == LargeNumbers()


@dataclass(frozen=True)
class Variant(Kuhn):
    stake: int = 1


def test_an_option_that_policies_do_not_depend_on_is_listed() -> None:
    (line,) = set(check_game(Variant())) - ABILITIES
    assert line == "spec.options leaves out stake: a policy plays with other values than it was trained with"


class SomeDealsEndAtOnce(Kuhn):
    def deal(self, num_games, rng, decks=None, seeds=None):
        states = super().deal(num_games, rng, decks)
        ended = states["cards"][:, 0] == 2
        states["moves"][ended, :2] = 0  # both have passed
        states["num_moves"][ended] = 2
        return states


def test_deals_may_end_a_game_at_once() -> None:
    check_game(SomeDealsEndAtOnce())


@dataclass(frozen=True)
class Returns:
    """Plays `actions`, whatever is legal."""

    actions: Any

    def act(self, info_states, players, rng):
        return np.repeat(self.actions, len(players), axis=0)


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([2], r"Returns\.act returns 2, an action that is not legal: \[0, 1\] are"),
        ([0.0], "must return whole numbers"),
        ([[0, 1]], "must return"),
    ],
)
def test_a_broken_agent_fails_with_what_to_change(actions: Any, said: str) -> None:
    with pytest.raises(CheckFailed, match=said):
        check_agent(Kuhn(), Returns(actions))


class Idle(MLP):
    def __init__(self, spec: Any, options: Any) -> None:
        super().__init__(spec, options)
        self.more = nn.Linear(3, 3)


class Flat(MLP):
    def forward(self, inputs: Any) -> Any:
        scores, values = super().forward(inputs)
        return scores, values[:, None]


class Noisy(MLP):
    def forward(self, inputs: Any) -> Any:
        scores, values = super().forward(inputs)
        return scores + torch.rand(()), values


@dataclass(frozen=True)
class Builds:
    network: type[MLP]

    def check(self, spec: Any) -> None: ...

    def build(self, spec: Any) -> MLP:
        return self.network(spec, SMALL)


@pytest.mark.parametrize(
    ("network", "said"),
    [(Idle, "more.weight, more.bias takes part in neither"), (Flat, "values [N] second"), (Noisy, "weights differ")],
)
def test_a_broken_network_fails_with_what_to_change(network: type[MLP], said: str) -> None:
    with pytest.raises(CheckFailed) as raised:
        check_network(Kuhn(), Builds(network))
    assert said in str(raised.value)


class Sleeps(PPOLearner):
    def update(self, experience: Any) -> Any:
        return {"loss": 0.0}


class OwnNoise(PPOLearner):
    def update(self, experience: Any) -> Any:
        self.rng = np.random.default_rng()
        return super().update(experience)


class Remembers(PPOLearner):
    """Its updates grow with a counter that no checkpoint has."""

    count = 0

    def update(self, experience: Any) -> Any:
        self.count += 1
        experience.rewards[:] *= self.count
        return super().update(experience)


@pytest.mark.parametrize(
    ("learner", "said"),
    [(Sleeps, "update must call gradient_step"), (OwnNoise, "from self.rng"), (Remembers, "by extra_state")],
)
def test_a_broken_learner_fails_with_what_to_change(
    learner: type[PPOLearner], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cardlab.learners.ppo.learner.PPOLearner", learner)
    with pytest.raises(CheckFailed, match=said):
        check_learner(Kuhn(), PPO, SMALL)
