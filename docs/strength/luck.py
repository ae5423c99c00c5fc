"""What a player of Five-O gains over the champion, with the luck of the draw taken off.

Usage: luck.py deals=1000 seed=1 AGENT
Both sit at either seat of the same deals. From each result is taken what each card was worth to the player beyond the
mean of all that might have come in its place, by the champion's values. In the mean over deals that is nothing,
whatever the values, so the gain is unbiased (Burch et al. 2018, AIVAT, its terms of chance); the better the values, the
narrower the interval.
"""

import sys
import time
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

import cardlab
from cardlab.arena.intervals import estimate
from cardlab.games.five_o.rules import NUM_TURNS
from cardlab.games.protocol import Game, InfoStates, States
from cardlab.games.rows import join, take
from cardlab.playing.protocol import Agent, Policy

DEALS_AT_ONCE = 50
COMPLETIONS = 128  # of the values that tell luck: fewer are faster, and leave the gain unbiased


def main(arguments: Sequence[str]) -> None:
    """Play, and print the gain with and without luck after each part of the deals."""
    given = dict(text.split("=") for text in arguments[:2])
    torch.set_num_threads(1)
    game = cardlab.make_game("five_o", features="prospects")
    quick = cardlab.make_game("five_o", features="prospects", completions=COMPLETIONS)
    judge = cardlab.load_agent(quick, "champion")
    assert isinstance(judge, Policy)
    players = cardlab.load_agent(game, arguments[2]), cardlab.load_agent(game, "champion")
    plain, adjusted = [], []
    began = time.process_time()
    for part in range(int(given["deals"]) // DEALS_AT_ONCE):
        rng = np.random.default_rng([int(given["seed"]), part])
        paid, luck = play_both_seats(game, quick, players, judge, DEALS_AT_ONCE, rng)
        plain.append(paid)
        adjusted.append(paid - luck)
        results = estimate(np.concatenate(plain)), estimate(np.concatenate(adjusted))
        told = ", ".join(f"{it.mean:+.4f} ({it.low:+.4f} to {it.high:+.4f})" for it in results)
        print(f"{results[0].deals} deals, {time.process_time() - began:.0f} s: {told} without luck", flush=True)


def play_both_seats(
    game: Game, quick: Game, players: Sequence[Agent], judge: Policy, num_deals: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[D] points a game of the first of `players`, and what luck gave it of them, as means of both seats."""
    dealt = game.deal(num_deals, rng)
    states = States(join([dealt, dealt]))
    seats = np.repeat(np.array([0, 1], dtype=np.int8), num_deals)  # of the first player
    luck = np.zeros(len(states))
    for turn in range(NUM_TURNS):
        movers = game.current_player(states)
        luck += np.where(movers == seats, 1, -1) * drawn_luck(quick, judge, states, turn)
        actions = np.empty(len(states), dtype=np.int16)
        for first, player in enumerate(players):
            rows = np.flatnonzero((movers == seats) == (first == 0))
            known = game.information(take(states, rows), movers[rows])
            actions[rows] = player.act(known, movers[rows], rng)
        game.apply(states, actions)
    assert game.is_over(states).all()
    paid = game.payoffs(states)[np.arange(len(states)), seats].astype(np.float64)
    return paid.reshape(2, num_deals).mean(axis=0), luck.reshape(2, num_deals).mean(axis=0)


def drawn_luck(game: Game, judge: Policy, states: States, turn: int) -> NDArray[np.float64]:
    """[G] what the card that has come is worth to who places it, beyond the mean of all that might have come."""
    movers = game.current_player(states)
    luck = np.empty(len(states))
    for row in range(len(states)):
        placed = states[row]["columns"]
        left = np.setdiff1d(np.arange(52), placed[placed >= 0])
        might = States(take(states, np.full(len(left), row)))
        might["deck"][:, turn] = left
        owners = np.full(len(left), movers[row], dtype=np.int8)
        worths = judge.evaluate(InfoStates(game.information(might, owners)), owners)[1]
        luck[row] = worths[left == states[row]["deck"][turn]].item() - worths.mean()
    return luck


if __name__ == "__main__":
    main(sys.argv[1:])
