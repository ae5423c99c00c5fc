"""Whether what a search of Big 2 expects on dealt hands comes true on the real ones.

Usage: real_hands.py POSITIONS
Positions are drawn from games of the champion against itself. In each, its second choice is compared with its first,
and the champion plays both out: on DEALS hands dealt uniformly, on as many dealt by the belief network, on as many
dealt by how likely the champion makes the moves so far, and on the hands that the opponents really held. One real deal
says little of one position. Over many positions its mean is what a deviation is worth, since the real hands are a
sample of what the player cannot see.
"""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import cardlab
from cardlab.agents.beliefs import load_belief
from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.agents.policy_inference import PolicyInference
from cardlab.evaluation.intervals import estimate
from cardlab.games.agent_protocol import Agent
from cardlab.games.big2.actions import PASS
from cardlab.games.loop import play, play_out
from cardlab.games.protocol import Game, InfoStates, Players, States
from cardlab.games.record_arrays import take

GAMES = 40  # of the champion at a time
KEPT = 0.25  # share of the positions: those of one game are alike
DEALS = 50  # of the hidden hands of each position
LEAST = math.log(0.01)  # log-probability of the second choice
SEED = 20261128
DEALERS = ("uniform", "belief", "policy")  # ways to deal


def main(arguments: Sequence[str]) -> None:
    """Compare the two choices of each position and print what they are worth."""
    (positions,) = arguments
    torch.set_num_threads(1)
    game = cardlab.make_game("big2", features="plans")
    champion = cardlab.load_agent(game, "champion")
    assert isinstance(champion, SoftmaxAgent)
    belief = load_belief(game, Path("champions/beliefs/big2"))
    dealers = (game.determinize, belief.determinize, PolicyInference(game, champion).determinize)
    rng = np.random.default_rng(SEED)
    found: list[NDArray[np.float64]] = []
    choices = games = 0
    while sum(map(len, found)) < int(positions):
        states, players, actions, numbers, asked = draw_positions(game, champion, rng)
        numbers, choices, games = numbers + games, choices + asked, games + GAMES
        copies = np.repeat(np.arange(len(players)), DEALS)
        known = take(game.information(states, players), copies)
        columns = [numbers, *actions.T]
        for deal in dealers:
            deals = deal(InfoStates(known), players[copies], rng)
            differences = compare(game, champion, deals, players[copies], actions[copies], rng)
            columns.append(differences.reshape(-1, DEALS).mean(axis=1))
        columns.append(compare(game, champion, states, players, actions, rng))
        found.append(np.stack(columns, axis=1).astype(np.float64))
    rows = np.concatenate(found)
    seats = games * game.spec.num_players
    print(f"{len(rows)} positions of {games} games, {choices / seats:.2f} decisions with a choice a game")
    report(rows, games, 1 / (game.spec.num_players * KEPT))


def draw_positions(
    game: Game, champion: SoftmaxAgent, rng: np.random.Generator
) -> tuple[States, Players, NDArray[np.intp], NDArray[np.intp], int]:
    """A share of the positions [N] of GAMES games whose second choice is not too unlikely.

    With their players [N], both choices [N, 2] and the numbers of their games [N]; last the decisions with a choice.
    """
    states = game.deal(GAMES, rng)
    before = states.copy()
    drawn: list[tuple[Any, ...]] = []
    asked = 0
    for moves in play(game, states, [champion], rng):
        places = np.flatnonzero(moves.queried)
        asked += len(places)
        if places.size:
            log_probabilities, _ = champion.evaluate(take(moves.info_states, places), moves.players[places])
            actions = np.argsort(-log_probabilities, axis=1, kind="stable")[:, :2]
            second = np.take_along_axis(log_probabilities, actions[:, 1:], axis=1)[:, 0]
            kept = (second > LEAST) & (rng.random(len(places)) < KEPT)
            numbers = moves.rows[places][kept]
            drawn.append((before[numbers], moves.players[places][kept], actions[kept], numbers))
        before = states.copy()
    positions, players, actions, numbers = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    return States(positions), players, actions, numbers, asked


def compare(
    game: Game, champion: Agent, states: States, players: Players, actions: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.float64]:
    """[N] payoffs of `players` by the second of `actions` [N, 2] less those by the first; the champion plays on."""
    both = take(states, np.repeat(np.arange(len(players)), 2))
    game.apply(both, actions.reshape(-1).astype(np.int16))
    play_out(game, both, [champion], rng)
    payoffs = game.payoffs(both)[np.arange(len(both)), np.repeat(players, 2)].astype(np.float64).reshape(-1, 2)
    return payoffs[:, 1] - payoffs[:, 0]


def report(rows: NDArray[np.float64], games: int, per_game: float) -> None:
    """Print the gain a game of the second choice where dealt hands favour it, and the mean differences by kind.

    `per_game` is the number of decisions in a player's game for which each position of a game stands. Intervals are
    over games, since the positions of one game share its hands.
    """
    numbers, first, second, *dealt, real = rows.T

    def over_games(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(numbers.astype(np.intp), values, games).astype(np.float64)

    for name, mean in zip(DEALERS, dealt, strict=True):
        promised, true = (interval(per_game * over_games((mean > 0) * values)) for values in (mean, real))
        print(f"second choice where {name} deals favour it: {promised} promised, {true} real, points a game")
    for name, kind in (
        ("second choice passes", second == PASS),
        ("first choice passes", first == PASS),
        ("neither passes", (first != PASS) & (second != PASS)),
    ):
        means = ", ".join(interval(over_games(kind * column) * games / kind.sum()) for column in (*dealt, real))
        print(f"{name}: {kind.sum()} positions; {', '.join(DEALERS)}, real: {means}")


def interval(values: NDArray[np.float64]) -> str:
    """Mean and 95 % interval."""
    found = estimate(values)
    return f"{found.mean:+.2f} ({found.low:+.2f} to {found.high:+.2f})"


if __name__ == "__main__":
    main(sys.argv[1:])
