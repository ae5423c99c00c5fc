"""The experiments of the Five-O paper: Tables II and III, and the data of Figures 1 to 4."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.registry import make_agent
from cardlab.core.options import check_whole
from cardlab.games.cards.hands import strength_table, strengths_of_keys
from cardlab.games.five_o.column_probability import (
    WITH_CARD,
    WITHOUT_CARD,
    enumerate_columns,
    game_win_probabilities,
    simulate_columns,
)
from cardlab.games.loop import play, play_out
from cardlab.games.make_game import make_game
from cardlab.games.protocol import InfoStates, States
from cardlab.games.record_arrays import copied

Progress = Callable[[str], None]


@dataclass(frozen=True)
class FiveOOptions:
    """Budgets of the experiments; `agents` and `slow_agents` map the names in the tables to agent texts.

    `slow_agents` play only those of `slow_against`.
    """

    agents: Mapping[str, str]
    slow_agents: Mapping[str, str] = field(default_factory=dict[str, str])
    slow_against: Sequence[str] = ()
    turn: int = 10  # cards placed in the position of Table II and Figure 1: all columns have two cards
    deal: int = 0  # random seed of the cards in that position
    simulations: Sequence[int] = (1000, 10_000, 100_000)  # of Table II
    points: Sequence[int] = (10, 100, 1000, 10_000, 100_000)  # simulations along Figure 1
    deals: int = 500  # for each pair of Table III, each played from both seats
    slow_deals: int = 100  # of slow agents, and for each depth of Figure 2
    depths: Sequence[int] = (1, 2, 3, 4, 5, 6)  # of Figure 2
    decks: int = 30  # orders of the deck that each search of Figure 2 samples
    searcher: str = "expectiminimax"  # the searching agent of Figure 2
    opponent: str = "greedy_2"  # of the searching agent
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the numbers; agents check their own options."""
        check_whole("five_o_tables.turn", self.turn, 10, 29)
        check_whole("five_o_tables.deals", self.deals, 1)
        check_whole("five_o_tables.slow_deals", self.slow_deals, 1)
        check_whole("five_o_tables.decks", self.decks, 1)
        for name in ("simulations", "points", "depths"):
            for number in getattr(self, name):
                check_whole(f"five_o_tables.{name}", number, 1)


@dataclass(frozen=True)
class Duel:
    """Games of two agents on the same deals from both seats, counted for the first agent."""

    won: int
    lost: int
    drawn: int
    strengths: NDArray[np.float64]  # [2, 5] mean strength of each agent's columns, best to worst

    @property
    def num_games(self) -> int:
        """Games played."""
        return self.won + self.lost + self.drawn


def run_experiments(options: FiveOOptions, progress: Progress) -> dict[str, Any]:
    """All tables and figures as one JSON object; equal options give equal results."""
    progress("Table II, Figure 1")
    results: dict[str, Any] = {"table_2": converge(options, options.simulations)}
    results["figure_1"] = converge(options, options.points)
    results.update(_all_against_all(options, progress))
    results["table_3_slow"] = _slow_agents(options, progress)
    figure: list[dict[str, float]] = []
    for depth in options.depths:
        progress(f"Figure 2: depth {depth}")
        searcher = f"{options.searcher}:depth:{depth}:decks:{options.decks}"
        duel = play_duel(searcher, options.opponent, options.slow_deals, options.seed)
        figure.append({"depth": depth, **_share(duel)})
    results["figure_2"] = figure
    return results


def converge(options: FiveOOptions, simulations: Sequence[int]) -> dict[str, Any]:
    """Chances of the columns and of the game in one position: exact, and simulated with each number of `simulations`.

    The position occurs when greedy_2 plays itself; each number of simulations has its own random generator.
    """
    known, player = position(options.turn, options.deal)
    table, state = strength_table(), known[0]
    seeds = np.random.default_rng(options.seed).integers(0, 2**64, size=len(simulations), dtype=np.uint64)
    found = {"exact": enumerate_columns(table, state, player)}
    for number, seed in zip(simulations, seeds, strict=True):
        found[str(number)] = simulate_columns(table, state, player, number, seed)
    sizes = state["sizes"][player]
    return {
        "put": {name: chances[WITH_CARD].tolist() for name, chances in found.items()},
        "wait": {name: chances[WITHOUT_CARD].tolist() for name, chances in found.items()},
        "win": {name: game_win_probabilities(chances, sizes).tolist() for name, chances in found.items()},
    }


def position(turn: int, seed: int) -> tuple[InfoStates, int]:
    """One InfoState in which `turn` cards are placed, and its player."""
    game, rng = make_game("five_o"), np.random.default_rng(seed)
    states = game.deal(1, rng)
    for moves in play(game, states, [make_agent(game, "greedy_2")], rng, ask_forced=True):
        if int(moves.info_states[0]["turn"]) == turn:
            return moves.info_states, int(moves.players[0])
    raise ValueError(f"five_o_tables.turn={turn}: must be a decision of the game")


def play_duel(first: str, second: str, deals: int, seed: int) -> Duel:
    """`first` against `second` on `deals` deals, each from both seats."""
    game, rng = make_game("five_o"), np.random.default_rng(seed)
    agents = [make_agent(game, text) for text in (first, second)]
    states = game.deal(deals, rng)
    swapped = copied(states)
    play_out(game, states, agents, rng)
    play_out(game, swapped, agents[::-1], rng)
    payoffs = np.concatenate([game.payoffs(states)[:, 0], game.payoffs(swapped)[:, 1]])
    means = [_mean_strengths(states, swapped, place) for place in range(2)]
    counts = [int((payoffs == value).sum()) for value in (1, -1, 0)]
    return Duel(*counts, strengths=np.stack(means))


def _mean_strengths(states: States, swapped: States, place: int) -> NDArray[np.float64]:
    """[5] mean strength of the columns, best to worst, of the agent at seat `place` of the first games."""
    keys = np.concatenate([states["keys"][:, place], swapped["keys"][:, 1 - place]])
    found = strengths_of_keys(np.ascontiguousarray(keys).reshape(-1)).reshape(keys.shape)
    return -np.sort(-found.astype(np.float64), axis=1).mean(axis=0)


def _share(duel: Duel) -> dict[str, float]:
    """Games won in per cent, draws as halves, with the half-width of the 95 % interval of independent games."""
    share = (duel.won + duel.drawn / 2) / duel.num_games
    return {"share": 100 * share, "half_width": 196 * (share * (1 - share) / duel.num_games) ** 0.5}


def _all_against_all(options: FiveOOptions, progress: Progress) -> dict[str, Any]:
    """Table III and Figures 3 and 4: every pair on the same deals."""
    names = list(options.agents)
    table: dict[str, dict[str, list[int]]] = {name: {} for name in names}
    strengths: dict[str, list[NDArray[np.float64]]] = {name: [] for name in names}
    for first, second in combinations(names, 2):
        progress(f"Table III: {first} against {second}")
        duel = play_duel(options.agents[first], options.agents[second], options.deals, options.seed)
        table[first][second] = [duel.won, duel.lost, duel.drawn]
        table[second][first] = [duel.lost, duel.won, duel.drawn]
        strengths[first].append(duel.strengths[0])
        strengths[second].append(duel.strengths[1])
    totals = {name: np.sum(list(table[name].values()), axis=0).tolist() for name in names}
    return {
        "table_3": table,
        "figure_3": {name: np.mean(strengths[name], axis=0).tolist() for name in names},
        "figure_4": {name: {"won": won, "lost": lost, "drawn": drawn} for name, (won, lost, drawn) in totals.items()},
    }


def _slow_agents(options: FiveOOptions, progress: Progress) -> dict[str, Any]:
    """Games won, lost and drawn by the slow agents."""
    table: dict[str, dict[str, list[int]]] = {}
    for name, text in options.slow_agents.items():
        table[name] = {}
        for other in options.slow_against:
            progress(f"Table III: {name} against {other}")
            duel = play_duel(text, options.agents[other], options.slow_deals, options.seed)
            table[name][other] = [duel.won, duel.lost, duel.drawn]
    return table
