"""The replay of a finished game, with an agent's review of the player's moves."""

import numpy as np

from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import InfoStates
from cardlab.games.record_arrays import join
from cardlab_play.advice import agent_message, load_advisor, option_messages, rounded
from cardlab_play.agent_catalog import AgentCatalog
from cardlab_play.analysis import analyze
from cardlab_play.errors import RequestError
from cardlab_play.serializers import result_message
from cardlab_play.table import Table
from cardlab_play.table_store import LiveTable
from cardlab_play.views.protocol import Json

NUM_DROPS = 5  # moves that are listed


def replay_message(agents: AgentCatalog, live: LiveTable, agent_name: str | None) -> Json:
    """The replay with an agent's review, by default of the game's advisor. Raises a 409 before the end of the game."""
    table = live.table
    choice, agent = load_advisor(agents, table.game, agent_name)
    if not table.is_over:
        raise RequestError(409, "the replay is available after the end of the game only")
    reviews = _review_moves(table, agent)
    frames = [
        {**event, "hands": hands, "review": None if event["kind"] == "showdown" else reviews.get(step.number)}
        for step, hands in zip(table.steps, table.hands_by_step(), strict=True)
        for event in table.events(step)
    ]
    drops = [number for number, review in reviews.items() if review["drop"] > 0]
    return {
        "id": live.row.id,
        "game": table.game.spec.name,
        "seat": table.seat,
        "agent": agent_message(agents, choice),
        "result": result_message(live, agents),
        "frames": frames,
        "largest_drops": sorted(drops, key=lambda number: (-reviews[number]["drop"], number))[:NUM_DROPS],
    }


def _review_moves(table: Table, agent: Agent) -> dict[int, Json]:
    """By number of the move: the value before it, its drop and regret in payoffs, the agent's action, and all options.

    `drop`: the value minus the value at the next decision, or minus the result. `regret`: the value of the best action
    minus that of the chosen one.
    """
    own = [step for step in table.steps if step.player == table.seat]
    if not own:
        return {}
    info_states = InfoStates(join([step.before for step in own]))
    analysis = analyze(table.game, agent, info_states, np.full(len(own), table.seat, dtype=np.int8))
    best_values = analysis.values.max(axis=1)
    expected = best_values if analysis.state_values is None else analysis.state_values
    reviews: dict[int, Json] = {}
    after = float(table.payoffs()[table.seat])
    for row, step in reversed(list(enumerate(own))):
        # a forced move is not evaluated: it has the value of the next decision
        value = float(expected[row]) if np.isfinite(expected[row]) else after
        chosen, best = analysis.values[row, step.action], analysis.chosen[row]
        options = option_messages(table, step.before, analysis, row)
        reviews[step.number] = {
            "value": rounded(value),
            "drop": rounded(value - after),
            "regret": rounded(max(float(best_values[row]) - float(chosen), 0.0)) if np.isfinite(chosen) else None,
            "best": {"action": best, "text": table.action_text(step.before, best)},
            "options": [{**option, "chosen": option["action"] == step.action} for option in options],
        }
        after = value
    return reviews
