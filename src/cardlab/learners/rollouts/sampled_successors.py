"""What may follow a decision: sampled successor states of the Open-face seed's averaged target (Tan and Xiao 2018)."""

from dataclasses import dataclass

import numpy as np

from cardlab.games.agent_protocol import Agent
from cardlab.games.array_checks import unchecked
from cardlab.games.legality import legality
from cardlab.games.loop import play
from cardlab.games.protocol import NO_PLAYER, Actions, Bools, Floats, Game, InfoStates, Players, States


@dataclass(frozen=True, slots=True)
class Successors:
    """M continuations of each of N decisions, neighbours M by M, to the player's next decision or the end."""

    info_states: InfoStates  # [N·M] what the player knows there
    players: Players  # [N·M]
    rewards: Floats  # [N·M] what the player was paid on the way
    over: Bools  # [N·M] whether the game ended before the player was asked again


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
    """`num_samples` (M) independent continuations of each decision [N], played by `others` at the other seats.

    These are the s_j of section 5.2: y = R(s, a) + 1/M Σ_j Q'(s_j, ·). Chance is sampled anew for each of them: all
    that the player does not know when deciding (the order of the deck, hidden hands) is drawn by `determinize`, uniform
    over what is consistent; then the action is applied and the others answer. In a game with hidden hands that is a
    belief which reads nothing into the others' play. Decisions with a single legal action are passed over, as in
    the samples that learners store.
    """
    repeat = np.repeat(np.arange(len(players)), num_samples)
    movers = players[repeat]
    here = np.arange(len(movers))
    states = game.determinize(InfoStates(info_states[repeat]), movers, rng)
    before = game.payoffs(states)[here, movers]
    unchecked(game).apply(states, actions[repeat])
    while (waiting := np.flatnonzero(_waits(game, states, movers))).size:
        some = States(states[waiting])
        next(play(game, some, [others], rng))  # one decision at each of these tables
        states[waiting] = some
    rewards = (game.payoffs(states)[here, movers] - before).astype(np.float32)
    return Successors(game.information(states, movers), movers, rewards, game.is_over(states))


def _waits(game: Game, states: States, movers: Players) -> Bools:
    """[G] whether somebody else is to move, or the player without a choice."""
    current = game.current_player(states)
    forced = legality(game, states).forced_moves() >= 0
    return (current != NO_PLAYER) & ((current != movers) | forced)
