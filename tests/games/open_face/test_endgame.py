"""Exact values of the last four placements against enumeration of all orders of the unseen cards."""

import numpy as np
import pytest

from cardlab.agents.registry import make_agent
from cardlab.games.loop import play
from cardlab.games.open_face.endgame import FIRST_STEP, action_values, solvable
from cardlab.games.open_face.rules import NUM_DEALT, owner
from cardlab.games.protocol import InfoStates, States
from games.open_face.tables import GAME

RNG = np.random.default_rng(0)


def positions(step, tables, seed):
    """Decisions of games played well enough to avoid fouls."""
    rng = np.random.default_rng(seed)
    states = GAME.deal(tables, rng)
    agent = make_agent(GAME, "random_fills:openings:10:simulations:40")
    for done, moves in enumerate(play(GAME, states, [agent], rng, ask_forced=True)):
        if done == step:
            return moves.info_states, moves.players
    raise AssertionError


def draws(info_state):
    """[M] states with all orders of the future cards."""
    step = int(info_state["step"])
    unseen = np.setdiff1d(np.arange(52), info_state["deck"][: step + 1])
    left = NUM_DEALT - step - 1
    orders = np.stack(np.meshgrid(*[unseen] * left, indexing="ij"), axis=-1).reshape(-1, left) if left else None
    if orders is None:
        return States(info_state.reshape(1).copy()), np.ones(1, dtype=bool)
    distinct = np.ones(len(orders), dtype=bool)
    for one in range(left):
        for other in range(one):
            distinct &= orders[:, one] != orders[:, other]
    states = np.repeat(info_state.reshape(1), len(orders))
    states["deck"][:, step + 1 :] = orders
    return States(states), distinct


def value_of(states, distinct, mover, num_unseen):
    """Value to `mover` of [M] states in all orders: alternate best rows and means over the next card."""
    step = int(states["step"][0])
    if step == NUM_DEALT:
        return GAME.payoffs(states)[:, mover]
    legal = GAME.legal_actions(states)[0]
    values = []
    for row in np.flatnonzero(legal):
        after = States(states.copy())
        GAME.apply(after, np.full(len(after), row, dtype=np.int16))
        values.append(mean_over_draw(value_of(after, distinct, mover, num_unseen), distinct, step, num_unseen))
    return np.max(values, axis=0) if owner(step) == mover else np.min(values, axis=0)


def mean_over_draw(values, distinct, step, num_unseen):
    """[M] `values` with those of cards drawn after `step` replaced by their mean."""
    left = NUM_DEALT - step - 1
    groups = np.where(distinct, values, np.nan).reshape(-1, num_unseen**left)
    with np.errstate(invalid="ignore"):
        means = np.nansum(groups, axis=1) / (~np.isnan(groups)).sum(axis=1)
    return np.repeat(means, num_unseen**left)


def plain_values(info_state, mover):
    """{row: value} by enumeration of all orders."""
    states, distinct = draws(info_state)
    unseen = 52 - int(info_state["step"]) - 1
    values = {}
    for row in np.flatnonzero(GAME.legal_actions(InfoStates(info_state.reshape(1)))[0]):
        after = States(states.copy())
        GAME.apply(after, np.full(len(after), row, dtype=np.int16))
        if int(info_state["step"]) + 1 < NUM_DEALT:
            # the one who moves next sees the card, so the mean over it comes last
            inner = value_of(after, distinct, mover, unseen)
            values[int(row)] = float(np.nanmean(np.where(distinct, inner, np.nan)))
        else:
            values[int(row)] = float(GAME.payoffs(after)[0, mover])
    return values


@pytest.mark.parametrize(("step", "tables"), [(25, 20), (24, 20), (23, 8), (22, 3)])
@pytest.mark.parametrize("seed", [0, 1])
def test_values_are_those_of_all_orders(step, tables, seed):
    info_states, players = positions(step, tables, seed)
    values = action_values(info_states, players, RNG, 0)
    choices = 0
    for g in range(tables):
        plain = plain_values(info_states[g], int(players[g]))
        assert np.flatnonzero(np.isfinite(values[g])).tolist() == list(plain)
        for row, value in plain.items():
            assert values[g, row] == pytest.approx(value, abs=1e-4)
        choices += len(plain) > 1
    assert choices > 0 or step > 23


def test_solvable_from_the_last_four_placements():
    for step in (FIRST_STEP - 1, FIRST_STEP, NUM_DEALT - 1):
        info_states, players = positions(step, 4, 2)
        assert (solvable(info_states, players) == (step >= FIRST_STEP)).all()
        assert not solvable(info_states, np.int8(1) - players).any()
        finite = np.isfinite(action_values(info_states, players, RNG, 0))
        assert np.array_equal(finite, GAME.legal_actions(info_states) & (step >= FIRST_STEP))
