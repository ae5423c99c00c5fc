"""Sampled successors of decisions, for the averaged targets of the Open-face paper (Tan and Xiao 2018)."""

from dataclasses import dataclass

import numpy as np

from cardlab.games.agent_protocol import Agent
from cardlab.games.array_checks import unchecked
from cardlab.games.legality import legality
from cardlab.games.loop import play
from cardlab.games.protocol import NO_PLAYER, Actions, Bools, Floats, Game, InfoStates, Players, States


@dataclass(frozen=True, slots=True)
class Successors:
    """M successors of each of N decisions, M adjacent rows each: the player's next decision, or the end of the game."""

    info_states: InfoStates  # [N·M]
    players: Players  # [N·M]
    rewards: Floats  # [N·M] payoff between the decision and the successor
    over: Bools  # [N·M] whether the game ended before the player's next decision


def sample_successors(
    game: Game,
    info_states: InfoStates,
    players: Players,
    actions: Actions,
    others: Agent,
    *,
    num_samples: int,
    rng: np.random.Generator,
) -> Successors:
    """`num_samples` (M) independent successors of each decision [N]; `others` plays the opponents.

    These are the s_j of section 5.2: y = R(s, a) + 1/M Σ_j Q'(s_j, ·). Each sample draws what the player does not know
    (deck order, hidden hands) by `determinize`, uniformly among consistent states. Then the action is applied and the
    opponents move. With hidden hands this belief ignores what the opponents' play reveals. Forced moves of the player
    are skipped, as in the samples that learners store.
    """
    repeat = np.repeat(np.arange(len(players)), num_samples)
    movers = players[repeat]
    here = np.arange(len(movers))
    states = game.determinize(InfoStates(info_states[repeat]), movers, rng)
    before = game.payoffs(states)[here, movers]
    unchecked(game).apply(states, actions[repeat])
    while (unfinished := np.flatnonzero(_before_decision(game, states, movers))).size:
        moved = States(states[unfinished])
        next(play(game, moved, [others], rng))  # one move in each of these games
        states[unfinished] = moved
    rewards = (game.payoffs(states)[here, movers] - before).astype(np.float32)
    return Successors(game.information(states, movers), movers, rewards, game.is_over(states))


def _before_decision(game: Game, states: States, movers: Players) -> Bools:
    """[G] whether an opponent is to move, or the mover has a forced move."""
    current = game.current_player(states)
    forced = legality(game, states).forced_moves() >= 0
    return (current != NO_PLAYER) & ((current != movers) | forced)
