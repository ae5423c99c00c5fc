"""Moves of the Five-O champion that no agent of the paper chooses, and their value by rollouts.

Usage: unique_moves.py games=200 playouts=1000 shown=4. In games of the champion against itself, finds the positions
where none of the paper's agents chooses the champion's column. The champion plays out its own column and the column
that most agents choose, on the same deals. Half of the playouts select the positions to print, the other half give
the values: so selection does not bias them.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

import cardlab
from cardlab.agents.search.search_io import make_search_decisions, pair_with_actions, sample_deals
from cardlab.games.agent_protocol import Agent
from cardlab.games.five_o.rules import NUM_COLUMNS, NUM_TURNS
from cardlab.games.loop import play, play_out
from cardlab.games.protocol import Game, InfoStates
from cardlab.games.record_arrays import take

PAPER_AGENTS = ("reflex_1", "reflex_2", "reflex_3", "greedy_1", "greedy_2", "fast_greedy_2", "column_monte_carlo")
LAST_ROUND = NUM_TURNS - 2 * NUM_COLUMNS  # the paper's agents play exactly from this turn on
SEED = 993


@dataclass(frozen=True)
class Found:
    """A position in which no agent of the paper chooses the champion's column."""

    info_state: InfoStates  # [1]
    player: int
    own: int
    others: int
    selected_by: float  # gain of the column by the first half of the playouts
    gain: float  # by the second half
    error: float  # half-width of its 95 % interval


def main(arguments: Sequence[str]) -> None:
    """Count the positions that differ by agent, and print those with the largest gain."""
    given = {key: int(value) for key, value in (text.split("=") for text in arguments)}
    torch.set_num_threads(1)
    game = cardlab.make_game("five_o")
    champion = cardlab.load_agent(game, "champion")
    others = {name: cardlab.load_agent(game, name) for name in PAPER_AGENTS}
    rng = np.random.default_rng(SEED)
    differs: Counter[str] = Counter()
    moves_found: list[tuple[InfoStates, int, int, int]] = []
    asked = 0
    for turn, moves in enumerate(play(game, game.deal(given["games"], rng), [champion], rng)):
        if turn >= LAST_ROUND:
            break
        info_states = InfoStates(moves.info_states.copy())
        free = game.legal_actions(info_states).sum(axis=1) > 1
        choices = {name: agent.act(info_states, moves.players, rng) for name, agent in others.items()}
        asked += int(free.sum())
        for name, columns in choices.items():
            differs[name] += int((free & (columns != moves.actions)).sum())
        table = np.stack(list(choices.values()))
        unique = free & (table != moves.actions).all(axis=0)
        differs["all of them"] += int(unique.sum())
        for row in np.flatnonzero(unique):
            state = take(info_states, np.array([row]))
            most = int(np.bincount(table[:, row]).argmax())
            moves_found.append((state, int(moves.players[row]), int(moves.actions[row]), most))
    print(f"{asked} positions with a choice before the last round; share in which each agent differs, %:")
    print(", ".join(f"{name} {100 * count / asked:.1f}" for name, count in differs.items()))
    found = [judge(game, champion, *position, given["playouts"], number) for number, position in enumerate(moves_found)]
    gains = np.array([position.gain for position in found])
    errors = np.array([position.error for position in found])
    error = np.sqrt((errors**2).sum()) / len(found)
    print(f"{len(found)} unique moves, mean gain {gains.mean():+.3f} ± {error:.3f}")
    for position in sorted(found, key=lambda position: -position.selected_by)[: given["shown"]]:
        print(f"\n{position.gain:+.3f} ± {position.error:.3f}")
        info_state = position.info_state[0]
        print(game.render(info_state))
        print(f"champion: {game.action_text(info_state, position.own)}; most: column {position.others + 1}")


def judge(
    game: Game, champion: Agent, known: InfoStates, player: int, own: int, others: int, playouts: int, number: int
) -> Found:
    """Play out both columns on the same deals, the champion at both seats."""
    (decision,) = make_search_decisions(game, known, np.array([player], dtype=np.int8), SEED)
    rng = np.random.default_rng([SEED, number])
    states, actions = pair_with_actions(
        sample_deals(game.determinize, decision, playouts, rng), np.array([own, others])
    )
    game.apply(states, actions)
    play_out(game, states, [champion], rng)
    paid = game.payoffs(states)[:, player].reshape(playouts, 2).astype(np.float64)
    first, second = np.array_split(paid[:, 0] - paid[:, 1], 2)
    error = 1.96 * second.std(ddof=1) / np.sqrt(len(second))
    return Found(known, player, own, others, first.mean(), second.mean(), error)


if __name__ == "__main__":
    main(sys.argv[1:])
