"""The replay of a finished game, with an agent's review of the player's moves."""

import numpy as np

from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import InfoStates
from cardlab.games.record_arrays import join
from cardlab_play.advice import (
    agent_message,
    load_advisor,
    option_messages,
    playout_agent,
    rounded,
    verdict_message,
)
from cardlab_play.agent_catalog import AgentCatalog, BeliefNetworks
from cardlab_play.errors import RequestError
from cardlab_play.playouts import DecisionAnalysis, OptionPlayouts, PlayoutAgent, analyze, play_out_options
from cardlab_play.serializers import result_message
from cardlab_play.table import GameStep, LiveTable, Table
from cardlab_play.views.protocol import Json

NUM_COSTLY = 5  # moves that are listed
OPTIONS = 4  # of one decision that are played out: the player's, the agent's, and the next ones of its order
MAX_GAMES = 8000  # of all decisions together
MIN_DEALS, MAX_DEALS = 16, 64


def replay_message(
    agents: AgentCatalog, belief_networks: BeliefNetworks, live: LiveTable, agent_name: str | None
) -> Json:
    """The replay with an agent's review, by default of the game's advisor. Raises a 409 before the end of the game."""
    table = live.table
    choice, agent = load_advisor(agents, table.game, agent_name)
    if not table.is_over:
        raise RequestError(409, "the replay is available after the end of the game only")
    by, title = playout_agent(agents, table.game, choice, belief_networks.for_game(table.game))
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
        "agent": agent_message(agents, choice),
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
