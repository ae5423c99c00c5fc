import multiprocessing
import os
import signal
import subprocess
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardlab
from cardlab.agents.exploration import RandomAgent
from cardlab.core.child_processes import ChildKilled
from cardlab.core.messages import InvalidOption
from cardlab.evaluation.deals import deal_block
from cardlab.evaluation.match import play_match
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.seating import distinct_seatings, make_lineup
from cardlab.experiments.policy_groups import find_group
from cardlab.games.loop import play_out
from cardlab.games.make_game import make_game
from small_games.high_card import HighCard, Shower
from small_games.kuhn import Kuhn
from small_games.paired import play_paired
from small_games.roshambo import Roshambo

TWO, FOUR = HighCard(2), HighCard(4)


@settings(max_examples=30, deadline=None)
@given(groups=st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_up_to_four_players_sit_in_every_distinct_order_once(groups):
    seatings = [tuple(row) for row in distinct_seatings(groups).tolist()]
    assert len(seatings) == len(set(seatings))
    assert set(seatings) == set(permutations(groups))


@settings(max_examples=30, deadline=None)
@given(groups=st.lists(st.integers(0, 2), min_size=5, max_size=9))
def test_more_players_rotate_and_every_group_visits_every_seat_as_often(groups):
    seatings = distinct_seatings(groups)
    assert len(seatings) <= len(groups)
    for group in set(groups):
        visits = (seatings == group).sum(axis=0)
        assert (visits == visits[0]).all()


@pytest.mark.parametrize(
    ("entries", "seatings"),
    [
        (["random"] * 4, 4),
        (["random", "a", "a", "a"], 4),
        (["a", "a", "b", "b"], 6),
        (["a", "b", "c", "d"], 24),
    ],
)
def test_copies_are_not_permuted_among_themselves(entries, seatings):
    assert make_lineup(FOUR, entries).num_seatings == seatings


def test_the_same_object_is_a_copy_and_an_equal_one_is_not():
    agent = Shower(FOUR)
    assert make_lineup(FOUR, [agent, agent, "random", "random"]).num_seatings == 6
    assert make_lineup(FOUR, [agent, Shower(FOUR), "random", "random"]).num_seatings == 12


@pytest.mark.parametrize("num_players", [1, 2, 3, 4, 6])
def test_the_means_are_those_of_games_played_one_by_one(num_players):
    game = HighCard(num_players, first_wins_ties=True)
    high, low = Shower(game), Shower(game, best=False)
    match = play_match(game, [high] + [low] * (num_players - 1), num_deals=40, seed=3, chunk=7)
    points, wins = [], []
    for deal in deal_block(game, 3, 0, 40):
        for seat in range(num_players):
            state = deal.reshape(1).copy()
            play_out(game, state, [high if seat == place else low for place in range(num_players)], None)
            paid = game.payoffs(state)[0]
            points.append(paid[seat])
            wins.append((paid[seat] == paid.max()) / (paid == paid.max()).sum())
    assert match.num_deals == 40
    assert match.num_games == len(points)
    assert match.mean == pytest.approx(np.mean(points))
    if num_players == 1:
        assert match.win_rate is None
        assert match.by_player[0].wins is None
    else:
        assert match.win_rate == pytest.approx(np.mean(wins))
        others = [result.points.mean for result in match.by_player[1:]]
        assert others == pytest.approx([-match.mean / (num_players - 1)] * (num_players - 1), abs=1e-6)
        assert sum(result.wins.mean for result in match.by_player) == pytest.approx(1)


def test_the_interval_is_clustered_by_deal():
    match = play_match(FOUR, [Shower(FOUR), "random", "random", "random"], num_deals=50, seed=1)
    per_deal = match.per_deal()
    error = per_deal.std(ddof=1) / np.sqrt(50)
    low, high = match.interval
    assert high - low == pytest.approx(2 * 2.00958 * error, rel=0.03)
    assert low < match.mean < high


def test_luck_cancels_between_two_that_play_alike():
    game = HighCard(2, first_wins_ties=True)
    match = play_match(game, [Shower(game), Shower(game)], num_deals=100, seed=0)
    assert match.mean == 0
    low, high = match.interval
    assert low == -high == pytest.approx(0.025**0.01 - 1), "a rare deal may be missing among a hundred"


def test_copies_alone_still_show_chance():
    match = play_match(TWO, ["random", "random"], num_deals=100, seed=0)
    low, high = match.interval
    assert low < 0 < high
    assert match.win_rate_interval[0] < 0.5 < match.win_rate_interval[1]


@pytest.mark.slow
def test_figures_do_not_depend_on_the_number_of_processes():
    one = play_match(TWO, [Shower(TWO), "random"], num_deals=50, seed=5, chunk=8)
    two = play_match(TWO, [Shower(TWO), "random"], num_deals=50, seed=5, chunk=8, processes=2)
    assert np.array_equal(one.tally.points, two.tally.points)
    assert np.array_equal(one.tally.shares, two.tally.shares)
    early = play_match(TWO, [Shower(TWO), "random"], num_deals=5000, seed=5, chunk=50, until=0.1, processes=2)
    alone = play_match(TWO, [Shower(TWO), "random"], num_deals=5000, seed=5, chunk=50, until=0.1)
    assert early.num_deals == alone.num_deals < 5000
    assert early.mean == alone.mean


@pytest.mark.parametrize("chunk", [1, 100, 256, 300])
def test_a_deal_is_the_same_in_every_chunk_and_match(chunk):
    whole = deal_block(TWO, 9, 0, 600)
    parts = [deal_block(TWO, 9, first, min(first + chunk, 600)) for first in range(0, 600, chunk)]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    assert deal_block(TWO, 10, 0, 600).tobytes() != whole.tobytes()


def test_seed_zero_is_a_seed():
    zero, again, one = (play_match(TWO, ["random", Shower(TWO)], 60, seed=seed) for seed in (0, 0, 1))
    assert zero.mean == again.mean
    assert not np.array_equal(zero.tally.points, one.tally.points)


@pytest.mark.parametrize("num_players", [1, 4])
def test_a_difference_is_taken_deal_by_deal(num_players):
    game = HighCard(num_players)
    high, low = Shower(game), Shower(game, best=False)
    options = ArenaOptions(deals=300, seed=2)
    first, second, difference = play_paired(game, (high, low), ["random"] * (num_players - 1), options)
    assert difference.mean == pytest.approx(first.mean - second.mean)
    assert difference.low > 0
    if num_players == 1:
        assert (first.per_deal() >= second.per_deal()).all()
        assert difference.half_width < np.hypot(first.points.half_width, second.points.half_width)
    else:
        assert first.win_rate > second.win_rate


def test_a_match_stops_when_the_interval_is_narrow_enough():
    match = play_match(TWO, ["random", "random"], num_deals=10_000, seed=4, until=0.08)
    assert 100 <= match.num_deals < 2_000
    assert match.points.half_width <= 0.08
    full = play_match(TWO, ["random", "random"], num_deals=300, seed=4, until=0.001)
    assert full.num_deals == 300


def decks_of(seed, deals):
    """[D, 52] orders of the cards."""
    return np.random.default_rng(seed).permuted(np.tile(np.arange(52), (deals, 1)), axis=1)


@pytest.mark.parametrize("processes", [1, 2])
def test_given_decks_are_played_in_every_seating(processes):
    decks = decks_of(0, 300)
    high, low = Shower(TWO), Shower(TWO, best=False)
    match = play_match(TWO, [high, low], decks=decks, chunk=70, processes=processes)
    paid = []
    for deck in decks:
        for seats in ([high, low], [low, high]):
            state = TWO.deal(1, np.random.default_rng(0), deck[None].astype(np.int8))
            play_out(TWO, state, seats, None)
            paid.append(TWO.payoffs(state)[0, seats.index(high)])
    assert match.num_deals == 300
    assert match.per_deal() == pytest.approx(np.reshape(paid, (300, 2)).mean(axis=1))


def test_chance_behind_given_decks_follows_the_seed():
    game = cardlab.make_game("thirty_one")
    decks = decks_of(1, 20)
    first, again, other = (
        play_match(game, ["greedy", "threshold:level:29"], decks=decks, seed=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(first.per_deal(), again.per_deal())
    assert not np.array_equal(first.per_deal(), other.per_deal())


@pytest.mark.parametrize(
    ("decks", "message"),
    [
        (decks_of(0, 3).astype(float), r"decks: must be whole numbers \[any, 52\], not float64 \[3, 52\]"),
        (decks_of(0, 3)[:, :51], r"decks: must be whole numbers \[any, 52\], not int64 \[3, 51\]"),
        (decks_of(0, 3) + 1, r"decks\[0\]\[\d+\]=52: must be from 0 to 51"),
        (np.zeros((3, 52), dtype=np.int8), r"decks\[0\]=\[0,0,.*\]: must have each card 0 to 51 once"),
    ],
)
def test_wrong_decks_are_refused_in_one_line(decks, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        play_match(TWO, ["random", "random"], decks=decks)


def test_decks_have_the_cards_of_the_game():
    decks = np.random.default_rng(3).permuted(np.tile(np.arange(3), (50, 1)), axis=1)
    match = play_match(Kuhn(), ["random", "random"], decks=decks)
    assert match.num_deals == 50
    with pytest.raises(ValueError, match=r"^decks: must be whole numbers \[any, 3\], not int64 \[5, 52\]$"):
        play_match(Kuhn(), ["random", "random"], decks=decks_of(0, 5))
    with pytest.raises(ValueError, match=r"^decks: must be left out, as roshambo has no deck$"):
        play_match(Roshambo(), ["random", "random"], decks=decks)


def test_results_have_the_names_of_a_dictionary():
    match = play_match(FOUR, {"mine": Shower(FOUR), "left": "random", "across": "random", "right": "random"}, 40)
    assert list(match.by_name) == ["mine", "left", "across", "right"]
    assert match.by_name["mine"].points.mean == match.mean
    assert match.by_name["left"].points == match.by_name["right"].points


def test_a_match_stops_after_its_seconds_and_its_interval_holds():
    match = play_match(TWO, ["random", "random"], 10**9, seconds=0.05)
    whole = play_match(TWO, ["random", "random"], match.num_deals, chunk=256)
    assert 2 <= match.num_deals < 10**8
    assert np.array_equal(match.per_deal(), whole.per_deal())
    assert play_match(TWO, ["random", "random"], 10**9, seconds=1e-9, chunk=1).num_deals == 2


UNGUARDED = """
import cardlab
def main():
    cardlab.play_match(cardlab.make_game("open_face"), ["random", "random"], 4, processes=2)
{guard}main()
"""


@pytest.mark.parametrize("guarded", [False, True])
def test_processes_need_a_main_guard(tmp_path, guarded):
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED.format(guard='if __name__ == "__main__": ' if guarded else ""))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == guarded, done.stderr
    if not guarded:
        last = done.stderr.splitlines()[-1]
        assert "arena.processes=2: must be 1 here; for more, put line 5 of" in last
        assert done.stderr.count("Traceback") == 1
    else:
        assert not done.stderr


def test_a_killed_process_of_a_match_is_named():
    def kill_one(*_):
        for child in multiprocessing.active_children()[:1]:
            os.kill(child.pid, signal.SIGKILL)

    with pytest.raises(
        ChildKilled, match=r"^a process of the match was killed by signal 9 \(memory\?\); run the same command again"
    ):
        play_match(make_game("thirty_one"), ["random", "random"], 10**6, processes=2, chunk=1, progress=kill_one)


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ({"num_deals": None}, "num_deals"),
        ({"decks": decks_of(0, 9)}, "num_deals"),
        ({"num_deals": 1}, "arena.deals"),
        ({"processes": 0}, "arena.processes"),
        ({"chunk": 0}, "arena.chunk"),
        ({"until": 0.0}, "arena.until"),
        ({"seed": -1}, "arena.seed"),
        ({"entries": ["random"]}, "agents"),
        ({"entries": "random"}, "agents"),
        ({"entries": ["random", "random:level"]}, "agent"),
        ({"entries": ["random", Path("nothing")]}, "agent"),
        ({"entries": [RandomAgent(FOUR), cardlab.load_agent(make_game("five_o"), "greedy_2")]}, "agents"),
        ({"deals": 10}, "deals"),
        ({"game": "high_card"}, "game"),
    ],
)
def test_what_cannot_be_played_is_named(arguments, key):
    with pytest.raises(InvalidOption) as caught:
        play_match(**({"game": TWO, "entries": ["random", "random"], "num_deals": 10, "seed": 0} | arguments))
    assert caught.value.key == key
    assert "\n" not in str(caught.value)
    assert "r,a,n" not in str(caught.value)


def test_an_agent_that_cannot_reach_another_process_is_named():
    class Local(RandomAgent):
        pass

    with pytest.raises(InvalidOption, match=r"arena\.processes=2"):
        play_match(TWO, [Local(TWO), "random"], 10, 0, processes=2)


@pytest.mark.parametrize(
    ("text", "parallel_games"),
    [
        ("greedy_2", None),
        ("monte_carlo:simulations:5", 32),
        ("monte_carlo:seconds:1", 1),
        ("expectiminimax:seconds:1", 1),
        ("endgame:policy:[monte_carlo:seconds:1]", 1),
        ("endgame:policy:[monte_carlo:simulations:5]", 32),
    ],
)
def test_agents_with_a_clock_play_one_game_at_a_time(text: str, parallel_games: int | None) -> None:
    assert make_lineup(make_game("five_o"), [text, "random"]).parallel_games == parallel_games


def test_a_folder_with_colons_is_no_agent_with_options(tmp_path: Path) -> None:
    folder = tmp_path / "gamma:0.9:seconds"
    folder.mkdir()
    for text, parallel_games in ((str(folder), None), (f"monte_carlo:policy:[{folder}]:simulations:4", 32)):
        assert make_lineup(make_game("five_o"), [text, "random"]).parallel_games == parallel_games


def test_the_text_of_an_agent_may_be_longer_than_a_file_name():
    with pytest.raises(InvalidOption, match=r"^agent=a{20}"):
        cardlab.load_agent(make_game("thirty_one"), 300 * "a")
    with pytest.raises(InvalidOption, match=r"^policy=monte_carlo"):
        find_group("monte_carlo" + 20 * ":simulations:10", Path())


@pytest.mark.parametrize("text", [None, 3])
def test_what_is_no_text_names_no_agent(text):
    with pytest.raises(InvalidOption, match=rf"^agent={'null' if text is None else text}: must be a text or a policy"):
        cardlab.load_agent(make_game("thirty_one"), text)
