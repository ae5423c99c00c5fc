"""Advantage of an agent over the champion of Five-O or Poker Squares, from the decisions where the two differ.

Usage: performance_difference.py game=five_o games=600 playouts=350 seed=1 field=AGENT [baseline=AGENT] AGENT [AGENT …]
`baseline` replaces the champion everywhere below.
Each agent plays its own games, against `field` where there is an opponent. Where it would place a card otherwise
than the champion, the champion plays both placements out against `field`, on the same orders of the remaining cards.
The mean sum of these differences over a game is the advantage of the agent over the champion (performance difference
lemma, Kakade and Langford 2002, 6.1). The estimate is unbiased; its interval narrows with more playouts and with fewer
differing decisions. Twenty games are played in parallel.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

import cardlab
from cardlab.agents.search.search_io import pair_with_actions
from cardlab.evaluation.intervals import estimate
from cardlab.games.agent_protocol import Agent
from cardlab.games.loop import play_out
from cardlab.games.protocol import Game, InfoStates, States
from cardlab.games.record_arrays import take

CHUNK_GAMES = 20
OPTIONS = {"five_o": {"features": "prospects"}, "poker_squares": {}}
"""Game → options that the searches around its champion need. The states of these games have a deck and a turn."""


@dataclass(frozen=True)
class Part:
    """Result of some games of an agent, compared with the champion."""

    gains: NDArray[np.float64]  # [G] points
    differing: int  # decisions in which the two differ
    seconds: float  # CPU seconds of the agent


def main(arguments: Sequence[str]) -> None:
    """Play, and print the advantage of each agent after each part of the games."""
    given = {"baseline": "champion", **dict(text.split("=") for text in arguments if "=" in text)}
    torch.set_num_threads(1)
    game = cardlab.make_game(given["game"], **OPTIONS[given["game"]])
    champion = cardlab.load_agent(game, given["baseline"])
    field = cardlab.load_agent(game, given["field"])
    agents = {text: cardlab.load_agent(game, text) for text in arguments if "=" not in text}
    done: dict[str, list[Part]] = {text: [] for text in agents}
    for number in range(int(given["games"]) // CHUNK_GAMES):
        for text, agent in agents.items():
            rng = np.random.default_rng([int(given["seed"]), number])
            done[text].append(play_part(game, (agent, champion, field), int(given["playouts"]), rng))
            print(f"{summary(done[text])}: {text}", flush=True)


def summary(parts: Sequence[Part]) -> str:
    """One line about all games so far."""
    gain = estimate(np.concatenate([part.gains for part in parts]))
    differing = sum(part.differing for part in parts) / gain.deals
    seconds = sum(part.seconds for part in parts) / gain.deals
    interval = f"{gain.mean:+.4f} ({gain.low:+.4f} to {gain.high:+.4f})"
    return f"{gain.deals} games, {interval}, {differing:.2f} decisions differ, {seconds:.2f} CPU s a game"


def play_part(game: Game, agents: tuple[Agent, Agent, Agent], playouts: int, rng: np.random.Generator) -> Part:
    """Games of the first of `agents` against the third, at each seat in turn; the second is the champion."""
    agent, champion, field = agents
    states = game.deal(CHUNK_GAMES, rng)
    seats = np.arange(CHUNK_GAMES) % game.spec.num_players  # of the agent
    gains, differing, seconds = np.zeros(CHUNK_GAMES), 0, 0.0
    while not game.is_over(states).all():
        movers = game.current_player(states)
        known = game.information(states, movers)
        actions = np.zeros(CHUNK_GAMES, dtype=np.int16)
        mine, others = np.flatnonzero(movers == seats), np.flatnonzero(movers != seats)
        if others.size:
            actions[others] = field.act(take(known, others), movers[others], rng)
        usual = champion.act(take(known, mine), movers[mine], rng)
        began = time.process_time()
        actions[mine] = agent.act(take(known, mine), movers[mine], rng)
        seconds += time.process_time() - began
        for row, place in zip(mine, usual, strict=True):
            if actions[row] != place:
                places = np.array([actions[row], place], dtype=np.intp)
                gains[row] += advantage(game, (champion, field), States(states[row : row + 1]), places, playouts, rng)
                differing += 1
        game.apply(states, actions)
    return Part(gains, differing, seconds)


def advantage(
    game: Game,
    agents: tuple[Agent, Agent],
    state: States,
    places: NDArray[np.intp],
    playouts: int,
    rng: np.random.Generator,
) -> float:
    """Payoff of the first of two `places` less that of the second, by playouts of `agents` on new orders of cards."""
    player = game.current_player(state).item()
    copies = InfoStates(take(state, np.zeros(playouts, dtype=np.intp)))
    copies["deck"][:, state[0]["turn"] + 1 :] = -1  # only the order of the deck: cards hidden from the player stay
    players = np.full(playouts, player, dtype=np.int8)
    both, actions = pair_with_actions(game.determinize(copies, players, rng), places)
    game.apply(both, actions)
    play_out(game, both, [agents[seat != player] for seat in range(game.spec.num_players)], rng)
    one, other = game.payoffs(both)[:, player].reshape(playouts, 2).astype(np.float64).T
    return float((one - other).mean())


if __name__ == "__main__":
    main(sys.argv[1:])
