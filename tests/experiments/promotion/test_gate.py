"""Who is let through: real matches between agents whose order is known."""

from dataclasses import replace

import numpy as np
import pytest

from cardlab.evaluation.intervals import Estimate, confidence_sequence_interval, estimate
from cardlab.evaluation.options import ArenaOptions
from cardlab.experiments.promotion.gate import Contender, Ladder, PromotionDecision, PromotionOptions, decide
from cardlab.games.make_game import make_game

STRONGER = [("poker_squares", {}, "flush"), ("thirty_one", {}, "greedy"), ("thirty_one", {"num_players": 3}, "greedy")]


def play(
    game, challenger, opponent, deals=60, sequential=False, ladder=(), accept_equal=False, **arena
) -> PromotionDecision:
    options = PromotionOptions(sequential=sequential, ladder=ladder, accept_equal=accept_equal)
    sides = [Contender(name, name, "") for name in (challenger, opponent)]
    return decide(game, *sides, ArenaOptions(deals=deals, processes=1, **arena), options)


@pytest.mark.parametrize(("name", "options", "better"), STRONGER)
def test_the_stronger_passes_and_the_weaker_does_not(name, options, better):
    game = make_game(name, **options)
    up, down = play(game, better, "random"), play(game, "random", better)
    assert up.accepted
    assert not down.accepted
    assert up.difference.mean > 0 > down.difference.mean
    assert up.difference.deals == 60


def test_no_two_agents_can_each_dethrone_the_other():
    """Deterministic agents: the difference only changes its sign when they change names, with any number of players."""
    for name, options, one, other in [
        ("thirty_one", {"num_players": 3}, "greedy", "threshold:level:25"),
        ("big2", {}, "greedy", "lowest"),
    ]:
        game = make_game(name, **options)
        there, back = play(game, one, other, deals=8), play(game, other, one, deals=8)
        assert there.difference.mean == pytest.approx(-back.difference.mean)
        assert there.difference.low == pytest.approx(-back.difference.high)
        assert there.seed == back.seed


def test_half_of_the_seats_are_each_sides():
    decision = play(make_game("big2"), "greedy", "lowest", deals=4)
    assert decision.games == 4 * 6  # two of four seats: six seatings
    decision = play(make_game("thirty_one", num_players=3), "greedy", "random", deals=4)
    assert decision.games == 4 * (3 + 3)  # one of three, and two of three


def test_on_a_ladder_too_no_two_agents_can_each_dethrone_the_other():
    """What both win from the ladder is taken on the same deals: names change the sign alone, itself gains nothing."""
    for name, options, other, ladder in [
        ("thirty_one", {"num_players": 3}, "threshold:level:15", ("threshold:level:25", "greedy_stock_only")),
        ("big2", {}, "lowest", ("greedy", "lowest")),
    ]:
        game, one = make_game(name, **options), "greedy"
        there, back, same = (
            play(game, *sides, deals=40, ladder=ladder) for sides in ((one, other), (other, one), (one, one))
        )
        assert there.ladder.agents == ladder
        assert there.ladder.difference.mean == pytest.approx(-back.ladder.difference.mean)
        assert there.ladder.difference.low > 0
        assert there.accepted
        assert not back.accepted
        assert same.ladder.difference.mean == 0
        assert same.ladder.difference.low == -same.ladder.difference.high
        assert not same.accepted
        assert there.figures()["ladder"]["agents"] == [*ladder]
        assert "ladder" not in play(game, one, other, deals=8).figures()


@pytest.mark.parametrize(
    ("apart", "gain", "accepted", "as_equal"),
    [
        ((-0.1, 0.1), (0.1, 0.3), True, True),  # even between them, and more from the ladder
        ((0.1, 0.3), (0.1, 0.3), True, True),
        ((-0.3, -0.1), (0.1, 0.3), False, False),  # it loses to the champion
        ((-0.1, 0.1), (-0.1, 0.3), False, True),
        ((0.1, 0.3), (-0.1, 0.3), False, True),  # it wins from the champion alone
        ((-0.1, 0.1), (-0.3, -0.1), False, False),  # less from the ladder
    ],
)
def test_a_ladder_asks_for_more_from_others_and_no_loss_to_the_champion(apart, gain, accepted, as_equal):
    side = Contender("one", "random", "")
    between, ladder = (Estimate(sum(pair) / 2, *pair, 100) for pair in (apart, gain))
    decision = PromotionDecision(side, side, between, 200, 1, sequential=False, ladder=Ladder(("greedy",), ladder))
    assert decision.accepted is accepted
    assert replace(decision, accept_equal=True).accepted is as_equal


def test_equal_agents_do_not_pass():
    decision = play(make_game("poker_squares"), "random", "random", deals=100)
    assert decision.difference.low < 0 < decision.difference.high
    assert not decision.accepted
    assert "accept_equal" not in decision.figures()


def test_an_equal_agent_passes_where_that_is_enough_and_a_weaker_one_does_not():
    game = make_game("poker_squares")
    assert play(game, "random", "random", deals=100, accept_equal=True).accepted
    assert play(game, "flush", "random", accept_equal=True).accepted
    weaker = play(game, "random", "flush", accept_equal=True)
    assert not weaker.accepted
    assert weaker.figures()["accept_equal"] is True


def test_the_same_challenge_gives_the_same_figures_and_another_has_other_deals():
    game = make_game("poker_squares")
    one = play(game, "flush", "random")
    assert play(game, "flush", "random").figures() == one.figures()
    assert play(game, "flush", "random", seed=5).figures() != one.figures()
    digests = [Contender("a", "random", "1"), Contender("a", "random", "2")]
    seeds = {
        decide(game, side, Contender("b", "flush", "3"), ArenaOptions(deals=2), PromotionOptions()).seed
        for side in digests
    }
    assert len(seeds) == 2


def test_a_sequential_match_stops_when_it_is_clear():
    game = make_game("poker_squares")
    clear = play(game, "flush", "random", deals=20000, sequential=True, chunk=50)
    assert clear.accepted
    assert clear.difference.deals == 100  # the first look
    lost = play(game, "random", "flush", deals=20000, sequential=True, chunk=50)
    assert not lost.accepted
    assert lost.difference.deals == 100
    open_ = play(game, "random", "random", deals=150, sequential=True, chunk=50)
    assert open_.difference.deals == 150


def test_a_match_stops_at_the_width_that_is_asked_for():
    decision = play(make_game("poker_squares"), "flush", "random", deals=5000, until=5.0, chunk=50)
    assert decision.difference.deals < 5000
    assert decision.difference.half_width <= 5.0


def test_looking_all_the_time_lets_few_equals_through():
    """Of 400 series without a difference, at most 5 % ever leave zero; looking at t intervals lets through far more."""
    rng = np.random.default_rng(0)
    false, naive = 0, 0
    looks = range(100, 2001, 50)
    for _ in range(400):
        series = rng.standard_t(5, 2000)
        intervals = [confidence_sequence_interval(series[:deals], 2000) for deals in looks]
        false += any(interval.low > 0 or interval.high < 0 for interval in intervals)
        intervals = [estimate(series[:deals]) for deals in looks]
        naive += any(interval.low > 0 or interval.high < 0 for interval in intervals)
    assert false <= 0.05 * 400
    assert naive > 0.15 * 400


def test_the_running_interval_is_not_much_wider_where_it_is_planned_for():
    series = np.random.default_rng(1).normal(size=1000)
    ratio = confidence_sequence_interval(series, 1000).half_width / estimate(series).half_width
    assert 1.2 < ratio < 1.7
