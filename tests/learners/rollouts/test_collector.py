"""Collected experience: order, rewards, checkpoints, opponents."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent, SampledActions
from cardlab.core.messages import InvalidOption
from cardlab.games.make_game import make_game
from cardlab.games.protocol import HasPrivilegedFeatures
from cardlab.learners.rollouts.collector import Collector
from cardlab.learners.rollouts.experience import generator_state, restore_generator
from cardlab.learners.rollouts.opponents.fixed import ScriptedOptions, SelfPlayOptions
from cardlab.learners.rollouts.opponents.pool import PoolOptions
from cardlab.networks.mlp_options import MLPOptions
from small_games.kuhn import Kuhn


@dataclass
class NumberingAgent:
    """Plays at random; the value of a decision is its running number."""

    game: object
    count: int = 0

    def sample(self, info_states, players, rng):
        actions = RandomAgent(self.game).act(info_states, players, rng)
        numbers = np.arange(self.count, self.count + len(actions), dtype=np.float32)
        self.count += len(actions)
        return SampledActions(actions, np.zeros(len(actions), dtype=np.float32), numbers)


def collector_of(game, opponents=None, num_games=16, seed=3, **options_of_collector):
    options = opponents or SelfPlayOptions()
    network = MLPOptions(widths=(4,)).build(game.spec)
    built = options.build(game, lambda _: RandomAgent(game), network)
    return Collector(game, NumberingAgent(game), built, num_games, np.random.default_rng(seed), **options_of_collector)


def segments(experience):
    """The decisions of one player in one game, as index ranges."""
    stops = np.flatnonzero(experience.ends) + 1
    return zip([0, *stops[:-1]], stops, strict=True)


@pytest.mark.parametrize("game", [Kuhn(), make_game("thirty_one", num_players=3, play="round", reward="shaped")])
def test_decisions_are_of_whole_games_and_in_order(game):
    experience = collector_of(game).collect(500)
    assert len(experience) >= 500
    for start, stop in segments(experience):
        assert len(set(experience.players[start:stop])) == 1
        assert (np.diff(experience.values[start:stop]) > 0).all()


@pytest.mark.parametrize("game", [Kuhn(), make_game("thirty_one", num_players=3, play="round", reward="shaped")])
def test_rewards_add_up_to_payoffs(game):
    experience = collector_of(game).collect(500)
    sums = sorted(
        round(
            float(
                experience.rewards[start:stop].sum()
                + game.payoffs(experience.info_states[start : start + 1])[0, experience.players[start]]
            ),
            3,
        )
        for start, stop in segments(experience)
    )
    paid = defaultdict(int)
    for payoff in experience.payoffs.round(3).ravel():
        paid[round(float(payoff), 3)] += 1
    for total in sums:
        paid[total] -= 1
    without_decisions = sum(paid.values())  # players with forced moves only, or without a turn
    assert min(paid.values()) >= 0
    assert without_decisions == experience.payoffs.size - len(sums)


def test_only_the_learner_is_recorded():
    game = Kuhn()
    collector = collector_of(game, ScriptedOptions({"random": 1.0}))
    experience = collector.collect(400)
    assert (experience.seats == 0).sum(axis=1).tolist() == [1] * len(experience.seats)
    assert collector.agent.count >= len(experience)
    one_player = experience.ends.sum()
    assert one_player <= len(experience.seats)


def test_no_decision_is_lost_or_repeated_between_iterations():
    game = Kuhn()
    split = collector_of(game)
    values = np.concatenate([split.collect(100).values for _ in range(5)])
    assert len(np.unique(values)) == len(values)
    missing = np.setdiff1d(np.arange(values.max()), values)
    assert len(missing) <= 16 * 3  # decisions of the 16 unfinished games


def followers(experiences):
    """Value of each decision → its reward and the value of the player's next decision, 0 at the end of the game."""
    found = {}
    for part in experiences:
        ahead = np.zeros(len(part)) if part.next_values is None else part.next_values
        ahead = np.where(part.ends, ahead, np.append(part.values[1:], 0))
        rows = zip(part.values.tolist(), part.rewards.tolist(), ahead.tolist(), part.players.tolist(), strict=True)
        found |= {value: rest for value, *rest in rows}
    return found


@pytest.mark.parametrize("game", [Kuhn(), make_game("big2"), make_game("thirty_one", num_players=3)])
def test_cut_rollouts_have_the_decisions_of_whole_games(game):
    whole, cut = collector_of(game), collector_of(game, cut=True)
    whole.agent.count = cut.agent.count = 1
    parts = [cut.collect(160) for _ in range(12)]
    assert all(160 - 16 * 4 <= len(part) <= 160 + 16 * 6 for part in parts)
    expected, found = followers(whole.collect(200) for _ in range(6)), followers(parts)
    assert len(found) == sum(map(len, parts))  # none twice
    common = expected.keys() & found.keys()
    assert len(common) > 300
    assert {value: found[value] for value in common} == {value: expected[value] for value in common}


def test_a_restored_collector_gives_equal_experience():
    game = make_game("thirty_one")
    options = PoolOptions(size=2, every=1, current_share=0.5)
    one = collector_of(game, options)
    one.collect(300)
    other = collector_of(game, options, seed=99)
    other.load_state_dict(one.state_dict())
    other.agent.count = one.agent.count
    a, b = one.collect(300), other.collect(300)
    assert a.info_states.tobytes() == b.info_states.tobytes()
    assert np.array_equal(a.values, b.values)
    assert np.array_equal(a.rewards, b.rewards)


@pytest.mark.parametrize("game", [Kuhn(), make_game("big2"), make_game("thirty_one", num_players=3)])
def test_states_are_kept_on_request_and_change_nothing(game):
    options = ScriptedOptions({"random": 1.0}, share=0.5)
    plain = collector_of(game, options)
    one, other = (collector_of(game, options, seed=seed, keep_states=True) for seed in (3, 4))
    for _ in range(2):
        without, experience = plain.collect(200), one.collect(200)
        assert without.states is None
        assert "states" not in plain.state_dict()["unfinished"]
        assert without.info_states.tobytes() == experience.info_states.tobytes()
        known = game.information(experience.states, experience.players)
        assert known.tobytes() == experience.info_states.tobytes()
        if isinstance(game, HasPrivilegedFeatures):
            assert (game.privileged(experience.states, experience.players) != 0).any(axis=1).all()
    other.load_state_dict(one.state_dict())
    other.agent.count = one.agent.count
    assert one.collect(200).states.tobytes() == other.collect(200).states.tobytes()


def test_generators_are_restored():
    rng = np.random.default_rng(5)
    rng.random(3)
    state = generator_state(rng)
    expected = rng.random(4)
    restore_generator(rng, state)
    assert np.array_equal(rng.random(4), expected)


def test_checkpoints_are_saved_on_schedule():
    game = Kuhn()
    network = MLPOptions(widths=(4,)).build(game.spec)
    pool = PoolOptions(size=2, every=2, current_share=0.0).build(game, lambda net: net, network)
    rng = np.random.default_rng(0)
    assert set(pool.assign_seats(200, 2, rng).ravel()) == {0, 1}
    opponents = []
    for number in range(1, 5):
        pool.update(number, network, np.zeros((0, 2), np.float32), np.zeros((0, 2), np.int8))
        opponents.append(set(pool.assign_seats(200, 2, rng).ravel()))
    assert opponents == [{0, 1}, {0, 1, 2}, {0, 1, 2}, {0, 1, 2}]
    assert ((pool.assign_seats(50, 2, rng) == 0).sum(axis=1) == 1).all()


@pytest.mark.parametrize(
    ("options", "key"),
    [
        (lambda: ScriptedOptions({"random": 1.0}, share=2), "opponents.share"),
        (lambda: ScriptedOptions(agents={"random": -1.0}), "opponents.agents.random"),
        (lambda: ScriptedOptions({"random": 0.0}), "opponents.agents"),
        (lambda: PoolOptions(size=0), "opponents.size"),
        (lambda: PoolOptions(current_share=-0.1), "opponents.current_share"),
    ],
)
def test_invalid_opponents_raise_an_error_with_the_key(options, key):
    with pytest.raises(InvalidOption, match=key.replace(".", r"\.")):
        options()


@pytest.mark.parametrize("name", ["poker_squares", "five_o", "open_face"])
def test_games_of_one_length_end_evenly_over_time(name):
    game = make_game(name)
    num_games = 512
    collector = collector_of(game, num_games=num_games)
    for _ in range(4):
        gathered = len(collector.collect(2 * num_games))
        assert num_games <= gathered <= 3 * num_games + game.spec.max_decisions


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("name", ["poker_squares", "thirty_one"])
def test_the_decisions_asked_for_are_kept_to_within_one_game_of_each_table(name, cut):
    collector = collector_of(make_game(name), num_games=32, cut=cut)
    total = asked = 0
    for size in (100, 300, 100, 700, 100):
        total, asked = total + len(collector.collect(size)), asked + size
        assert abs(total - asked) <= 32 * 25


def test_games_begin_at_legal_positions_that_are_not_over():
    game = make_game("thirty_one", play="round")
    states = collector_of(game, num_games=256)._states
    assert (game.current_player(states) >= 0).all()
