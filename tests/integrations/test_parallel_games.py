"""Vectorised adapters against the loop: the same deals and deterministic players must end alike, byte for byte."""

import gymnasium
import numpy as np
import pytest
from sb3_contrib.common.maskable.utils import get_action_masks

import cardlab
from cardlab.core.messages import InvalidOption
from cardlab.games.loop import IllegalAction, play
from cardlab.games.protocol import Actions, Game, InfoStates, Players
from cardlab.games.record_arrays import copied, take
from cardlab.integrations import ParallelGames, make_sb3, make_vector
from cardlab.integrations.parallel_games import StepResult
from games.variants import VARIANTS

NUM_GAMES = 40


class Fixed:
    """Plays one legal action by a rule without chance: the lowest, the highest, or one between."""

    def __init__(self, game: Game, share: float) -> None:
        self.game, self.share = game, share

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        return self.choose(self.game.legal_actions(info_states))

    def choose(self, masks: np.ndarray) -> Actions:
        rows = [np.flatnonzero(mask) for mask in masks]
        return np.array([legal[int(self.share * (legal.size - 1))] for legal in rows], dtype=np.int16)


def first_games(
    parallel: ParallelGames, learner: Fixed, result: StepResult
) -> dict[int, tuple[float, int, np.ndarray]]:
    """The first finished game of each row: return, decisions, last observation; rewards are summed on the way."""
    total = np.zeros(NUM_GAMES)
    games: dict[int, tuple[float, int, np.ndarray]] = {}
    while len(games) < NUM_GAMES:
        result = parallel.step(learner.choose(result.masks))
        total += result.rewards
        np.testing.assert_array_equal(np.flatnonzero(result.over), result.ended)
        for place, row in enumerate(result.ended.tolist()):
            assert result.returns[place] == pytest.approx(total[row], abs=1e-4)
            game = (float(result.returns[place]), int(result.lengths[place]), result.final_observations[place])
            games.setdefault(row, game)
            total[row] = 0
    return games


@pytest.mark.parametrize("ask_forced", [True, False])
@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in VARIANTS), ("thirty_one", {"num_players": 4}), ("thirty_one", {"reward": "shaped"})],
)
def test_parallel_games_are_those_of_the_loop(name: str, options: dict[str, object], ask_forced: bool) -> None:
    game = cardlab.make_game(name, **options)
    players = game.spec.num_players
    learner = Fixed(game, 0.5)
    opponents = [Fixed(game, 1.0 - place / players) for place in range(players - 1)]
    parallel = ParallelGames(game, NUM_GAMES, opponents, ask_forced=ask_forced)
    result = parallel.reset(np.random.default_rng(7))
    seats = parallel.seats.copy()
    assert len(set(seats.tolist())) == players  # at random, so everywhere
    assert (game.current_player(parallel.states) == seats).all()
    states = game.deal(NUM_GAMES, np.random.default_rng(7))  # what reset dealt
    games = first_games(parallel, learner, result)
    orders = np.array([[(seat - own) % players for seat in range(players)] for own in seats], dtype=np.int8)
    asked = np.zeros(NUM_GAMES, dtype=np.int64)
    for moves in play(
        game, states, [learner, *opponents], np.random.default_rng(0), seats=orders, ask_forced=ask_forced
    ):
        mine = moves.rows[(moves.agents == 0) & moves.queried]
        asked[mine] += 1
    payoffs = game.payoffs(states)[np.arange(NUM_GAMES), seats]
    finals = game.observe(game.information(states, seats), seats)
    for row, (returns, length, final) in games.items():
        assert returns == pytest.approx(payoffs[row])
        assert length == asked[row]
        np.testing.assert_array_equal(final, finals[row])


@pytest.mark.parametrize("ask_forced", [True, False])
def test_what_the_learner_gets_is_what_the_engine_says(ask_forced: bool) -> None:
    game = cardlab.make_game("big2")
    parallel = ParallelGames(game, 32, "random", seat=2, ask_forced=ask_forced)
    result = parallel.reset(np.random.default_rng(1))
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(40):
        states = copied(parallel.states)
        seats = np.full(32, 2, dtype=np.int8)
        known = game.information(states, seats)
        assert (game.current_player(states) == 2).all()
        assert ask_forced or (result.masks.sum(axis=1) > 1).all()
        np.testing.assert_array_equal(result.masks, game.legal_actions(known))
        np.testing.assert_array_equal(result.observations, game.observe(known, seats))
        assert not kept or kept[-1][0] is not result.observations
        kept.append((result.observations, result.observations.copy()))
        result = parallel.step(Fixed(game, 1.0).choose(result.masks))
    for given, then in kept:  # learners keep what they are given: it is never written again
        np.testing.assert_array_equal(given, then)


def test_a_seed_gives_one_result() -> None:
    def returns(seed: int) -> list[float]:
        envs = make_vector("thirty_one", 64, ["random"])
        _, infos = envs.reset(seed=seed)
        learner = Fixed(envs.games.game, 0.5)
        rewards: list[float] = []
        for _ in range(60):
            _, reward, _, _, infos = envs.step(learner.choose(infos["action_mask"]))
            rewards.extend(reward.tolist())
        return rewards

    assert returns(3) == returns(3)
    assert returns(3) != returns(4)


def test_the_vector_environment_keeps_gymnasiums_forms() -> None:
    envs = make_vector("open_face", 16, ["random"], features="paper")
    assert envs.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    observations, infos = envs.reset(seed=0)
    assert envs.observation_space.contains(observations)
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    wrapped.reset(seed=0)
    over = np.zeros(16, dtype=np.bool_)
    while not over.any():
        observations, rewards, over, truncated, infos = wrapped.step(
            Fixed(envs.games.game, 0.0).choose(infos["action_mask"])
        )
        assert envs.observation_space.contains(observations)
        assert rewards.shape == truncated.shape == over.shape
    ended = np.flatnonzero(over)
    assert infos["_final_obs"].tolist() == over.tolist()
    assert all((infos["final_obs"][row] is not None) == over[row] for row in range(16))
    np.testing.assert_allclose(infos["final_info"]["episode"]["r"][ended], rewards[ended])
    assert (infos["final_info"]["episode"]["l"][ended] == 13).all()
    assert envs.single_observation_space.contains(infos["final_obs"][ended[0]])


def test_wrappers_of_observations_take_games_that_are_replaced_in_the_next_step() -> None:
    envs = make_vector("open_face", 16, ["random"], autoreset_mode=gymnasium.vector.AutoresetMode.NEXT_STEP)
    wrapped = gymnasium.wrappers.vector.NormalizeObservation(gymnasium.wrappers.vector.RecordEpisodeStatistics(envs))
    _, infos = wrapped.reset(seed=0)
    learner, over, first = Fixed(envs.games.game, 0.0), np.zeros(16, dtype=np.bool_), np.zeros(16, dtype=np.int64)
    for step in range(60):
        actions, before = learner.choose(infos["action_mask"]), over
        actions[before] = 99  # not played
        observations, rewards, over, _, infos = wrapped.step(actions)
        assert np.isfinite(observations).all()
        assert not rewards[before].any()
        assert not over[before].any()
        first[before] = step + 1
        assert (step + 1 - first[over] == 13).all()
    assert first.all()
    with pytest.raises(InvalidOption, match=r"^autoreset_mode=AutoresetMode\.DISABLED: must be one of"):
        make_vector("open_face", 2, autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED)


def test_illegal_and_ill_shaped_actions_are_named() -> None:
    envs = make_vector("open_face", 4)
    with pytest.raises(RuntimeError, match="reset"):
        envs.step(np.zeros(4, dtype=np.int64))
    envs.reset(seed=0)
    with pytest.raises(IllegalAction, match=r"open_face: action 9 is not legal in game 2; choose one of \[0, 1, 2\]"):
        envs.step(np.array([0, 1, 9, 0]))
    with pytest.raises(IllegalAction, match=r"must be 4 numbers, one per game; got shape \(3,\)"):
        envs.step(np.zeros(3, dtype=np.int64))
    with pytest.raises(InvalidOption, match="num_envs=0"):
        make_vector("open_face", 0)


def test_stable_baselines_gets_masks_and_episodes() -> None:
    envs = make_sb3("five_o", 8, "random", seed=0)
    observations = envs.reset()
    assert observations.shape == (8, envs.games.game.spec.num_features)
    np.testing.assert_array_equal(get_action_masks(envs), envs.action_masks())
    assert np.shares_memory(envs.env_method("action_masks")[3], envs.action_masks())
    assert len(envs.env_method("action_masks", indices=[1, 5])) == 2
    assert envs.has_attr("action_masks")
    assert not envs.has_attr("colour")
    learner = Fixed(envs.games.game, 0.0)
    for _ in range(20):
        _, rewards, over, infos = envs.step(learner.choose(envs.action_masks()))
    assert over.all()  # 20 placements each
    assert [info["episode"]["r"] for info in infos] == pytest.approx(rewards.tolist())
    assert all(info["episode"]["l"] == 20 for info in infos)
    envs.seed(5)
    first = envs.reset()
    envs.seed(5)
    np.testing.assert_array_equal(first, envs.reset())
    with pytest.raises(NotImplementedError, match="the only method of a game is action_masks"):
        envs.env_method("fly")


def test_rows_are_taken_in_order() -> None:
    """`info_state` of a row shows that row."""
    parallel = ParallelGames(cardlab.make_game("five_o"), 5, "random")
    result = parallel.reset(np.random.default_rng(0))
    for row in range(5):
        known = parallel.info_state(row)
        assert (
            known.tobytes() == parallel.game.information(take(parallel.states, [row]), parallel.seats[[row]]).tobytes()
        )
        np.testing.assert_array_equal(parallel.game.observe(known, parallel.seats[[row]])[0], result.observations[row])
