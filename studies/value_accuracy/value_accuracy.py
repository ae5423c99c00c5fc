"""Accuracy of the champion's action values, measured by rollouts.

Usage: value_accuracy.py game=poker_squares positions=400 games=400 [policy=POLICY] [SEARCH …]
Positions come from the champion's own games. The champion plays out its best actions of each position. Prints the loss
of its other actions by its own values and by rollouts, then the gain of the best action by rollouts, then the gain of
the action that each search chooses. `policy` replaces the champion.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch

import cardlab
from cardlab.agents.network_agents import AfterstateAgent
from cardlab.agents.search.leaves import AgentPlayouts
from cardlab.agents.search.search_io import make_search_decisions, pair_with_actions, sample_deals
from cardlab.agents.search_agent import SearchAgent
from cardlab.games.agent_protocol import Agent
from cardlab.games.loop import play
from cardlab.games.protocol import Floats, Game, InfoStates, Players
from cardlab.games.record_arrays import join, take

CANDIDATES = 6
SEED = 991


@dataclass(frozen=True)
class Course:
    """Which decisions of a game are sampled."""

    first_turn: int
    num_turns: int
    decisions: int  # decisions of one player with a choice, in those turns
    gaps: tuple[float, ...]  # edges of the loss by the champion's own values, points
    options: Mapping[str, Any]  # of the game, for the searches around its champion


COURSES = {
    "poker_squares": Course(2, 20, 20, (0.0, 0.5, 1.0, 2.0, 4.0, np.inf), {}),
    "five_o": Course(0, 30, 12, (0.0, 0.02, 0.04, 0.08, 0.2, np.inf), {"features": "prospects"}),
}


def main(arguments: Sequence[str]) -> None:
    """Play out the positions, then let each search choose."""
    given = dict(text.split("=") for text in arguments if "=" in text)
    course, num_positions, num_games = COURSES[given["game"]], int(given["positions"]), int(given["games"])
    torch.set_num_threads(1)
    game = cardlab.make_game(given["game"], **course.options)
    champion, rng = cardlab.load_agent(game, given.get("policy", "champion")), np.random.default_rng(SEED)
    assert isinstance(champion, AfterstateAgent)
    known, players = sample_positions(game, champion, num_positions, course, rng)
    values = champion.action_values(known, players)
    best = np.argsort(-values, axis=1, kind="stable")[:, :CANDIDATES]
    paid = []
    for number, decision in enumerate(make_search_decisions(game, known, players, SEED)):
        deals = sample_deals(game.determinize, decision, num_games, np.random.default_rng([SEED, number]))
        actions = best[number][np.isin(best[number], decision.legal)]
        states, tried = pair_with_actions(deals, actions)
        game.apply(states, tried)
        owners = np.full(len(states), decision.player, dtype=np.int8)
        payoffs = AgentPlayouts(game, champion)(states, owners, rng)[:, decision.player]
        paid.append(dict(zip(actions.tolist(), payoffs.reshape(num_games, -1).T, strict=True)))
    print_losses(paid, values, course.gaps)
    print_improvement(paid, course.decisions)
    for text in (text for text in arguments if "=" not in text):
        agent = cardlab.load_agent(game, text)
        assert isinstance(agent, SearchAgent)
        chosen = agent.act(known, players, rng).tolist()
        gains = np.array([_gain(row, action) for row, action in zip(paid, chosen, strict=True)])
        error = np.sqrt((gains.var(axis=1) / num_games).sum()) / num_positions
        gain, margin = course.decisions * gains.mean(), 1.96 * course.decisions * error
        print(f"{text}: {gain:+.3f} ± {margin:.3f} points a game")


def sample_positions(
    game: Game, agent: Agent, num_positions: int, course: Course, rng: np.random.Generator
) -> tuple[InfoStates, Players]:
    """Positions with a choice, each from a different game, their turns spread over `course`."""
    seen = [
        (moves.info_states.copy(), moves.players.copy())
        for moves in play(game, game.deal(num_positions, rng), [agent], rng)
    ]
    found, players = [], []
    for row in range(num_positions):
        turn = row
        while True:
            info_states, movers = seen[course.first_turn + turn % course.num_turns]
            position = take(InfoStates(info_states), np.array([row]))
            if game.legal_actions(position).sum() > 1:
                break
            turn += 1
        found.append(position)
        players.append(movers[row])
    return join(found), np.array(players, dtype=np.int8)


def print_losses(paid: Sequence[Mapping[int, Floats]], values: Floats, gaps: Sequence[float]) -> None:
    """Print the loss of other actions by `values` [positions, A] and by rollouts, and the error of the values.

    The mean square error without sampling noise is the covariance of the errors of both halves of the rollouts.
    """
    rows = []
    for games, value in zip(paid, values, strict=True):
        own, *others = games
        for action in others:
            halves = [half.mean() for half in np.array_split(games[own] - games[action], 2)]
            rows.append((value[own] - value[action], *halves))
    promised, one, other = np.array(rows, dtype=np.float64).T
    for low, high in pairwise(gaps):
        here = (promised >= low) & (promised < high)
        lost = (one + other)[here] / 2
        wrong = ((one - promised) * (other - promised))[here]
        error = 1.96 / np.sqrt(here.sum())
        print(
            f"{here.sum()} actions with a predicted loss of {low} to {high}: mean {promised[here].mean():.3f}, "
            f"by rollouts {lost.mean():.3f} ± {error * lost.std():.3f}; "
            f"mean square error {wrong.mean():.4f} ± {error * wrong.std():.4f}"
        )


def print_improvement(paid: Sequence[Mapping[int, Floats]], decisions: int) -> None:
    """Print the gain of one step of policy improvement: the best action by half of the rollouts, judged by the rest."""
    gains = []
    for games in paid:
        halves = np.stack([np.stack(np.array_split(payoffs, 2)).mean(axis=1) for payoffs in games.values()])  # [A, 2]
        chosen = halves.argmax(axis=0)
        gains.append(np.mean([halves[chosen[0], 1] - halves[0, 1], halves[chosen[1], 0] - halves[0, 0]]))
    error = 1.96 / np.sqrt(len(gains))
    print(
        f"best action by half of the rollouts: {decisions * np.mean(gains):+.3f} "
        f"± {decisions * error * np.std(gains):.3f} points a game by the other half"
    )


def _gain(paid: Mapping[int, Floats], action: int) -> Floats:
    """[games] payoff of `action` less that of the champion's own, which comes first; 0 if it was not played out."""
    own = next(iter(paid.values()))
    return paid.get(action, own) - own


if __name__ == "__main__":
    main(sys.argv[1:])
