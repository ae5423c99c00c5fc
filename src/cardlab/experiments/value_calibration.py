"""What a policy expected at its decisions, and what it was then paid."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from cardlab.evaluation.deals import AGENTS, Purpose, deal_block, purpose_seed
from cardlab.evaluation.intervals import CONFIDENCE
from cardlab.evaluation.workers import one_thread
from cardlab.games.agent_protocol import Policy
from cardlab.games.loop import play
from cardlab.games.protocol import Bools, Floats, Game, States
from cardlab.games.record_arrays import take
from cardlab.learners.losses import lambda_returns, turn_discounts
from cardlab.learners.rollouts.opponents.protocol import Opponents

BINS = 12


@dataclass(frozen=True)
class Discount:
    """How a learner discounts what is still to come; its values are of such sums."""

    gamma: float = 1.0
    same_turn: tuple[int, ...] = ()  # kinds of decision that share the discount of the one before


@dataclass(frozen=True)
class Forecasts:
    """What was expected and paid at the decisions [N] of a policy in some games."""

    predicted: Floats  # [N] the policy's values
    paid: Floats  # [N] what came after, discounted as the policy was trained to
    games: NDArray[np.int64]  # [N]


def forecast(
    game: Game, policy: Policy, opponents: Opponents, num_games: int, seed: int, discount: Discount
) -> Forecasts:
    """Play `num_games` of the game as trained on, against the `opponents` of the training, every game to its end."""
    own = purpose_seed(seed, Purpose.CALIBRATION)
    states = deal_block(game, own, 0, num_games)
    rng = np.random.default_rng(np.random.SeedSequence(own, spawn_key=(AGENTS, 0)))
    seats = opponents.assign_seats(num_games, game.spec.num_players, rng)
    parts: list[tuple[NDArray[Any], ...]] = []
    with one_thread():
        for moves in play(game, states, [policy, *opponents.agents], rng, seats=seats):
            mine = np.flatnonzero(moves.queried & (moves.agents == 0))
            if not mine.size:
                continue
            info_states, players = take(moves.info_states, mine), moves.players[mine]
            paid = game.payoffs(info_states)[np.arange(mine.size), players]
            kinds = game.decision_kind(info_states)
            parts.append((moves.rows[mine], players, policy.evaluate(info_states, players)[1], paid, kinds))
    rows, players, values, paid, kinds = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((players, rows))  # stable: keeps time order
    rows, players, values, paid, kinds = (column[order] for column in (rows, players, values, paid, kinds))
    ends = np.append((np.diff(rows) != 0) | (np.diff(players) != 0), True)
    rewards = _rewards(game, states, rows, players, paid, ends)
    discounts = turn_discounts(kinds, discount.gamma, discount.same_turn)
    return Forecasts(values, lambda_returns(rewards, values, ends, discounts, 1.0), rows)


def _rewards(
    game: Game, states: States, rows: NDArray[Any], players: NDArray[Any], paid: Floats, ends: Bools
) -> Floats:
    """[N] what came between each decision and the player's next, or the end."""
    final = game.payoffs(states)[rows, players]
    later = np.where(ends, final, np.append(paid[1:], np.float32(0)))
    return (later - paid).astype(np.float32)


def calibration_rows(forecasts: Forecasts, bins: int = BINS) -> list[dict[str, float]]:
    """Bins with about as many decisions each, from low to high: what was `predicted` there on average, and `paid`.

    `low` and `high` are the 95 % interval of `paid`, clustered by game: decisions of one game share their payoff.
    """
    edges = np.unique(np.quantile(forecasts.predicted, np.linspace(0, 1, bins + 1)[1:-1]))
    places = np.searchsorted(edges, forecasts.predicted, side="right")
    table: list[dict[str, float]] = []
    for place in np.unique(places):
        here = places == place
        mean, half = clustered_mean(forecasts.paid[here], forecasts.games[here])
        table.append(
            {
                "predicted": float(forecasts.predicted[here].mean(dtype=np.float64)),
                "paid": mean,
                "low": mean - half,
                "high": mean + half,
                "decisions": int(here.sum()),
            }
        )
    return table


def clustered_mean(values: Floats, clusters: NDArray[np.int64]) -> tuple[float, float]:
    """Mean of `values` [N], and half the width of its 95 % interval with `clusters` [N] as the unit of sampling.

    The ratio estimator's linearised variance, C / (C − 1) · Σ_c (Σ_{n in c} (x_n − x̄))² / N² (Cochran, Sampling
    Techniques, 1977, equation 11.12 without the finite population's correction); infinite for one cluster.
    """
    mean = float(values.mean(dtype=np.float64))
    sums = np.bincount(np.unique(clusters, return_inverse=True)[1], values - mean)
    count = len(sums)
    if count < 2:
        return mean, float("inf")
    deviation = sqrt(count / (count - 1) * float((sums**2).sum())) / len(values)
    return mean, float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * deviation


def summarize_forecasts(forecasts: Forecasts) -> dict[str, float]:
    """`bias`: by how much values were too high, with its interval; `explained`: share of the variance they explain."""
    error = forecasts.predicted.astype(np.float64) - forecasts.paid
    bias, half = clustered_mean(error.astype(np.float32), forecasts.games)
    variance = float(forecasts.paid.var(dtype=np.float64))
    return {
        "games": len(np.unique(forecasts.games)),
        "decisions": len(error),
        "bias": bias,
        "bias_low": bias - half,
        "bias_high": bias + half,
        "explained": 1.0 - float(error.var()) / variance if variance > 0 else 0.0,
    }


def write_calibration(table: Sequence[dict[str, float]], path: Path) -> None:
    """Write the bins as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: f"{value:.6g}" for key, value in row.items()} for row in table)
