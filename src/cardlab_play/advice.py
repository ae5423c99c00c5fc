"""Advice on a move and review of a game: what an agent would play, and what each option is worth.

Both see the InfoState of the player's seat only.
"""

from math import isfinite
from typing import Any

import numpy as np

from cardlab.agents.beliefs import Belief
from cardlab.games.agent_protocol import Agent, Policy
from cardlab.games.cards.deck import card_text
from cardlab.games.protocol import Game, InfoStates
from cardlab.games.record_arrays import join
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.errors import RequestError
from cardlab_play.playouts import (
    DecisionAnalysis,
    OptionPlayouts,
    PlayoutAgent,
    analyze,
    decision_rng,
    num_deals,
    play_out_options,
)
from cardlab_play.serializers import result_message
from cardlab_play.table import GameStep, LiveTable, Table, check_practice
from cardlab_play.views.game_view import Json

NUM_COSTLY = 5  # moves that are listed
OPTIONS = 4  # of one decision that are played out: the player's, the agent's, and the next ones of its order
MAX_GAMES = 8000  # of all decisions together
MIN_DEALS, MAX_DEALS = 16, 64


def replay_message(agents: AgentCatalog, live: LiveTable, agent_name: str | None) -> Json:
    """The replay with an agent's review, by default of the game's advisor. Raises a 409 before the end of the game."""
    table = live.table
    choice, agent = load_advisor(agents, table.game, agent_name)
    if not table.is_over:
        raise RequestError(409, "the replay is available after the end of the game only")
    by, title = playout_agent(agents, table.game, choice)
    reviews, deals = _review_moves(table, agent, by)
    frames = [
        {
            **event,
            "hands": hands,
            "move": table.move_message(step.before, step.action) if event["player"] == table.seat else None,
            "review": None if event["kind"] == "showdown" else reviews.get(step.number),
        }
        for step, hands in zip(table.steps, table.hands_by_step(), strict=True)
        for event in table.events(step)
    ]
    costly = [number for number, review in reviews.items() if review["costly"]]
    return {
        "id": live.row.id,
        "game": table.game.spec.name,
        "seat": table.seat,
        "agent": agents.message(choice),
        "played_by": title,
        "deals": deals,
        "result": result_message(live, agents),
        "frames": frames,
        "costly_moves": sorted(costly, key=lambda number: (-reviews[number]["cost"], number))[:NUM_COSTLY],
    }


def _review_moves(table: Table, agent: Agent, by: PlayoutAgent) -> tuple[dict[int, Json], int]:
    """The review of each move of the player by its number, and the deals that each option was played out on.

    `value`: of the agent's move, by playouts; of a forced move that of the next decision. `cost`: by how much the
    agent's move is better than the player's on the same deals, negative where it is worse.
    """
    own = [step for step in table.steps if step.player == table.seat]
    if not own:
        return {}, 0
    info_states = InfoStates(join([step.before for step in own]))
    analysis = analyze(agent, info_states, np.full(len(own), table.seat, dtype=np.int8))
    legal = [np.flatnonzero(row).tolist() for row in table.game.legal_actions(info_states)]
    free = [row for row in range(len(own)) if len(legal[row]) > 1]
    options = [_options(analysis, row, legal[row], own[row].action) for row in free]
    deals = int(np.clip(MAX_GAMES // max(sum(map(len, options)), 1), MIN_DEALS, MAX_DEALS))
    found = play_out_options(by, [own[row].before for row in free], table.seat, options, deals) if free else []
    by_row = dict(zip(free, found, strict=True))
    reviews: dict[int, Json] = {}
    after = float(table.payoffs()[table.seat])
    for row, step in reversed(list(enumerate(own))):
        reviews[step.number] = _review(table, step, analysis, row, by_row.get(row), after)
        after = float(reviews[step.number]["value"])
    return reviews, deals


def _options(analysis: DecisionAnalysis, row: int, legal: list[int], played: int) -> list[int]:
    """The player's and the agent's action, and those next in the order of the agent, where it has one."""
    figures = analysis.visits if analysis.probabilities is None else analysis.probabilities
    order = legal if figures is None else sorted(legal, key=lambda action: -float(figures[row, action]))
    return sorted(dict.fromkeys([played, analysis.chosen[row], *order[: OPTIONS - 2]]))


def _review(
    table: Table, step: GameStep, analysis: DecisionAnalysis, row: int, found: OptionPlayouts | None, after: float
) -> Json:
    """The review of one move. `after`: the value at the player's next decision, or the result."""
    if found is None:
        only = {"action": step.action, "text": table.action_text(step.before, step.action), "chosen": True}
        figures = {"value": rounded(after), "drop": 0.0, "cost": 0.0, "margin": 0.0, "costly": False}
        return {**figures, "best": None, "verdict": None, "options": [only]}
    best = analysis.chosen[row]
    value, _ = found.value(best)
    cost, margin = found.difference(best, step.action)
    options = option_messages(table, step.before, analysis, row, found)
    return {
        "value": rounded(value),
        "drop": rounded(value - after),
        "cost": rounded(cost),
        "margin": rounded(margin),
        "costly": found.is_clearly_better(best, step.action),
        "best": {"action": best, "text": table.action_text(step.before, best)},
        "verdict": verdict_message(table, step.before, found, best),
        "options": [
            {**option, "chosen": option["action"] == step.action}
            for option in options
            if option["action"] in found.options
        ],
    }


BELIEF_DEALS = 400
MAX_OPTIONS = 40  # of a policy, the most probable, that are played out
DIGITS = 4


def advice_message(
    agents: AgentCatalog, live: LiveTable, agent_name: str | None, search: str | None, deals: int | None = None
) -> Json:
    """The advice of an agent, by default of the game's advisor, on at most `deals` deals.

    Raises a 409 in a game that counts, and unless the player is to move.
    """
    table = live.table
    choice, agent = load_advisor(agents, table.game, agent_name, search)
    check_practice(live, "advice")
    if not table.user_to_move:
        raise RequestError(409, "the game is over: advice is available during the game only")
    by, title = playout_agent(agents, table.game, choice)
    most = agents.options.advice_deals
    message = advice(table, agent, by, most if deals is None else min(deals, most))
    return {"agent": agents.message(choice), "number": len(table.actions), "played_by": title, **message}


def load_advisor(
    agents: AgentCatalog, game: Game, agent: str | None, search: str | None = None
) -> tuple[AgentChoice, Agent]:
    """The requested agent, by default the advisor of the game."""
    choice = AgentChoice(agent or agents.advisor(game).agent, search or None)
    return choice, agents.load_offered(game, choice, "query")


def playout_agent(agents: AgentCatalog, game: Game, choice: AgentChoice) -> tuple[PlayoutAgent, str]:
    """Who plays out the options, with a title: the agent without its search, or the first that does not search."""
    offered = [choice.agent, *(entry.agent for entry in agents.matching_entries(game))]
    fast = next(own for own in map(AgentChoice, offered) if not agents.is_slow(own))
    return PlayoutAgent(game, agents.load(game, fast), agents.belief(game)), agents.title(fast)


def advice(table: Table, agent: Agent, by: PlayoutAgent, deals: int) -> Json:
    """The advice of `agent` for the player's decision, with its options played out on `deals` sampled deals."""
    info_state = table.info_state()
    analysis = analyze(agent, info_state, table.players)
    action = analysis.chosen[0]
    options = _options_to_play_out(table.legal_actions(), analysis)
    (found,) = play_out_options(by, [info_state], table.seat, [options], num_deals(deals, len(options)))
    verdict = verdict_message(table, info_state, found, action)
    recommended = verdict["recommended"]["action"]
    value, margin = found.value(recommended)
    return {
        "action": action,
        "text": table.action_text(info_state, action),
        "value": rounded(value),
        "margin": rounded(margin),
        "win_probability": None if table.game.spec.num_players == 1 else rounded(found.win_probability(recommended)),
        "deals": len(found.payoffs),
        "verdict": verdict,
        "simulations": None if analysis.simulations is None else analysis.simulations[0],
        "options": option_messages(table, info_state, analysis, 0, found),
        "belief": _belief_message(table, by.belief),
        "observation": _observation_message(table, agent),
    }


def verdict_message(table: Table, info_states: InfoStates, found: OptionPlayouts, action: int) -> Json:
    """Whether the playouts agree with the agent's `action`, None where they do not decide; and which to recommend.

    The recommended option is the agent's, unless another is clearly better.
    """
    best = found.best()
    difference, margin = found.difference(best, action)
    clearly = best != action and found.is_clearly_better(best, action)
    recommended = best if clearly else action
    return {
        "agrees": best == action or (False if clearly else None),
        "action": best,
        "text": table.action_text(info_states, best),
        "difference": rounded(difference),
        "margin": rounded(margin),
        "recommended": {"action": recommended, "text": table.action_text(info_states, recommended)},
    }


def option_messages(
    table: Table, info_states: InfoStates, analysis: DecisionAnalysis, row: int, found: OptionPlayouts
) -> list[Json]:
    """The legal actions of `info_states` [1], row `row` of `analysis`, with the figures of agent and playouts."""

    def of_agent(figures: Any, action: int) -> float | None:
        return None if figures is None else rounded(figures[row, action])

    messages: list[Json] = []
    for action in np.flatnonzero(table.game.legal_actions(info_states)[0]).tolist():
        value, margin = found.value(action) if action in found.options else (None, None)
        messages.append(
            {
                "action": action,
                "text": table.action_text(info_states, action),
                "probability": of_agent(analysis.probabilities, action),
                "search_value": of_agent(analysis.search_values, action),
                "visits": None if analysis.visits is None else int(analysis.visits[row, action]),
                "value": None if value is None else rounded(value),
                "margin": None if margin is None else rounded(margin),
            }
        )
    return messages


def rounded(value: Any) -> float | None:
    """`value` with DIGITS decimal places, None if it is not finite."""
    return round(float(value), DIGITS) if isfinite(value) else None


def _options_to_play_out(legal: list[int], analysis: DecisionAnalysis) -> list[int]:
    """All options, of many only those that the policy finds most probable."""
    if analysis.probabilities is None or len(legal) <= MAX_OPTIONS:
        return legal
    probabilities = analysis.probabilities[0]
    return sorted(sorted(legal, key=lambda action: -float(probabilities[action]))[:MAX_OPTIONS])


def _belief_message(table: Table, belief: Belief | None) -> Json:
    """For each card of unknown place: the probability of each seat, and of the deck or stock (`elsewhere`)."""
    game, info_state = table.game, table.info_state()
    copies, seats = InfoStates(join([info_state] * BELIEF_DEALS)), np.repeat(table.players, BELIEF_DEALS)
    holders = game.holders(game.determinize(copies, seats, decision_rng(info_state)))  # [D, 52]
    uncertain = (holders != holders[0]).any(axis=0)
    if belief is not None:
        holders = game.holders(belief.determinize(copies, seats, decision_rng(info_state)))
    shares = np.stack([(holders == player).mean(axis=0) for player in range(game.spec.num_players)], axis=1)  # [52, P]
    cards = [
        {
            "card": card_text(card),
            "probabilities": [rounded(share) for share in shares[card]],
            "elsewhere": rounded(max(1.0 - float(shares[card].sum()), 0.0)),
        }
        for card in np.flatnonzero(uncertain).tolist()
    ]
    return {"source": "uniform" if belief is None else "network", "cards": cards}


def _observation_message(table: Table, agent: Agent) -> list[Json]:
    """The policy's observation by block, empty for other agents."""
    policy_game = getattr(agent, "game", None)
    if not isinstance(agent, Policy) or not isinstance(policy_game, Game):
        return []
    observation = policy_game.observe(table.info_state(), table.players)[0]
    return [
        {
            "name": block.name,
            "shape": list(block.shape),
            "values": [rounded(value) for value in observation[block.start : block.stop]],
        }
        for block in policy_game.spec.blocks
    ]
