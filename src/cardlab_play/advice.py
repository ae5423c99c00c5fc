"""What an agent would do in a person's place, from what the person knows and nothing else."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.agents.beliefs import Belief
from cardlab.agents.search_agent import SearchAgent
from cardlab.evaluation.intervals import half_width
from cardlab.games.agent_protocol import ActionValues, Agent, Policy
from cardlab.games.cards.deck import NUM_CARDS, card_text
from cardlab.games.loop import play_out
from cardlab.games.protocol import Floats, Game, InfoStates, Players
from cardlab.games.rows import join
from cardlab_play.action_values import play_out_options
from cardlab_play.settings import SETTINGS

BELIEF_DEALS = 400
DIGITS = 4


@dataclass(frozen=True)
class Thoughts:
    """What an agent makes of decisions of one game; each but `chosen` may be missing."""

    chosen: list[int]  # [N] what it would play
    probabilities: Floats | None  # [N, A]
    values: Floats  # [N, A] expected payoff by action, minus infinity where illegal or not looked at
    own: bool  # whether the values are the agent's, or those of playouts
    positions: Floats | None  # [N] expected payoff of the position
    margins: Floats | None = None  # [N, A] of values from playouts: half the width of their 95 % intervals
    playouts: list[int] | None = None  # [N] of each option
    simulations: list[int] | None = None  # [N] of a search, over all options


def think(game: Game, agent: Agent, known: InfoStates, players: Players) -> Thoughts:
    """What `agent` thinks of the decisions `known` [N] of `players` [N]; the same each time."""
    probabilities, positions = None, None
    if isinstance(agent, SearchAgent):
        findings = agent.search(known, players)
        values = np.array([finding.values for finding in findings], dtype=np.float32)
        chosen = [int(finding.scores.argmax()) for finding in findings]
        return Thoughts(chosen, None, values, True, None, simulations=[finding.simulations for finding in findings])
    if isinstance(agent, Policy):
        log_probabilities, positions = agent.evaluate(known, players)
        probabilities = np.exp(log_probabilities)
    trusted = SETTINGS[game.spec.name].trusts_values
    if not trusted:
        positions = None
    if isinstance(agent, ActionValues) and trusted:
        values, played = agent.action_values(known, players), None
    else:
        played = play_out_options(game, known, players)
        values = played.values
    chosen = agent.act(known, players, stream(known)) if probabilities is None else probabilities.argmax(axis=1)
    actions = [int(action) for action in chosen]
    if played is None:
        return Thoughts(actions, probabilities, values, True, positions)
    return Thoughts(actions, probabilities, values, False, positions, played.margins, played.deals)


def stream(known: InfoStates) -> np.random.Generator:
    """Chance that follows from what is known alone: the same question has the same answer."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(np.ascontiguousarray(known).tobytes()).digest()))


@dataclass(frozen=True)
class Prospects:
    """How games went that were played out from what a person knows."""

    value: float
    margin: float | None  # half the width of its 95 % interval; None for one deal
    win: float | None  # share of games with the best payoff, ties split; None for one player
    deals: int


def prospects(
    game: Game, agent: Agent, known: InfoStates, players: Players, deals: int, belief: Belief | None
) -> Prospects:
    """Play `deals` deals that fit `known` [1] out, with `agent` in every seat."""
    rng = stream(known)
    states = (belief or game).determinize(InfoStates(join([known] * deals)), np.repeat(players, deals), rng)
    play_out(game, states, [agent], rng)
    payoffs = game.payoffs(states)
    own = payoffs[:, int(players[0])]
    margin = rounded_or_none(half_width(own.astype(np.float64)))
    if game.spec.num_players == 1:
        return Prospects(float(own.mean()), margin, None, deals)
    best = payoffs == payoffs.max(axis=1, keepdims=True)
    wins = best[:, int(players[0])] / best.sum(axis=1)
    return Prospects(float(own.mean()), margin, float(wins.mean()), deals)


def belief_message(game: Game, known: InfoStates, players: Players, belief: Belief | None) -> dict[str, Any]:
    """Where each card may be that is not known to lie anywhere: chances by seat, and elsewhere (deck, stock)."""
    num_players = game.spec.num_players
    open_cards, chances = _uncertain(game, known, players, belief)
    cards = [
        {
            "card": card_text(card),
            "chances": [rounded(chances[card, player]) for player in range(num_players)],
            "elsewhere": rounded(max(1.0 - float(chances[card].sum()), 0.0)),
        }
        for card in np.flatnonzero(open_cards).tolist()
    ]
    return {"from": "uniform" if belief is None else "network", "cards": cards}


def input_message(agent: Agent, known: InfoStates, players: Players) -> list[dict[str, Any]]:
    """The agent's observation by block; empty for one that is no policy."""
    inner = getattr(agent, "game", None)
    if not isinstance(agent, Policy) or not isinstance(inner, Game):
        return []
    observation = inner.observe(known, players)[0]
    return [
        {
            "name": block.name,
            "shape": list(block.shape),
            "values": [rounded(value) for value in observation[block.start : block.stop]],
        }
        for block in inner.spec.blocks
    ]


def option_messages(game: Game, known: InfoStates, thoughts: Thoughts, row: int) -> list[dict[str, Any]]:
    """Each legal action of the decision `known` [1], which is `row` of `thoughts`, with its probability and value."""
    return [
        {
            "action": action,
            "text": game.action_text(InfoStates(known[0]), action),
            "probability": None if thoughts.probabilities is None else rounded(thoughts.probabilities[row, action]),
            "value": rounded_or_none(thoughts.values[row, action]),
            "margin": None if thoughts.margins is None else rounded_or_none(thoughts.margins[row, action]),
        }
        for action in np.flatnonzero(game.legal_actions(known)[0]).tolist()
    ]


def rounded(value: Any) -> float:
    """As it is told."""
    return round(float(value), DIGITS)


def rounded_or_none(value: Any) -> float | None:
    """As it is told, None for what is not finite."""
    return rounded(value) if np.isfinite(value) else None


def _uncertain(game: Game, known: InfoStates, players: Players, belief: Belief | None) -> tuple[Any, Any]:
    """[52] whether a card's holder is not known, and [52, P] the share of deals in which each player holds it."""
    copies, seats = InfoStates(join([known] * BELIEF_DEALS)), np.repeat(players, BELIEF_DEALS)
    holders = game.holders(game.determinize(copies, seats, stream(known)))
    certain = (holders == holders[0]).all(axis=0)
    if belief is not None:
        holders = game.holders(belief.determinize(copies, seats, stream(known)))
    shares = np.stack([(holders == player).mean(axis=0) for player in range(game.spec.num_players)], axis=1)
    assert shares.shape == (NUM_CARDS, game.spec.num_players)
    return ~certain, shares


def advice(game: Game, agent: Agent, quick: Agent, known: InfoStates, players: Players, how: "How") -> dict[str, Any]:
    """All that `agent` has to say about the decision `known` [1]; `quick`, its like, plays games out."""
    thoughts = think(game, agent, known, players)
    expected = prospects(game, quick, known, players, how.deals, how.belief)
    action = thoughts.chosen[0]
    return {
        "action": action,
        "text": game.action_text(InfoStates(known[0]), action),
        "value": rounded(expected.value),
        "margin": expected.margin,
        "win": None if expected.win is None else rounded(expected.win),
        "deals": expected.deals,
        "values_from": "agent" if thoughts.own else "playouts",
        "playouts": None if thoughts.playouts is None else thoughts.playouts[0],
        "simulations": None if thoughts.simulations is None else thoughts.simulations[0],
        "options": option_messages(game, known, thoughts, 0),
        "belief": belief_message(game, known, players, how.belief),
        "input": input_message(agent, known, players),
    }


@dataclass(frozen=True)
class How:
    """How games are played out for advice."""

    deals: int
    belief: Belief | None
