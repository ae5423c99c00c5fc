"""An agent that plays solved endgames exactly and any other agent before: `endgame:policy:planner`."""

from dataclasses import dataclass

import numpy as np

from cardlab.agents.search.builders import ENDGAME_SAMPLES, EndgameSolver, Resolve, make_endgame_solver
from cardlab.agents.search.search_io import DEALS, make_search_decisions
from cardlab.core.messages import InvalidOption
from cardlab.core.options import check_whole
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Actions, Game, InfoStates, Players


@dataclass(frozen=True)
class EndgameAgent:
    """Plays like `policy`, but by the endgame solver where it applies; there play depends on position and seed only."""

    game: Game
    policy: Agent
    solve: EndgameSolver
    seed: int = 0

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; only `policy` draws from `rng`, for every decision."""
        actions = self.policy.act(info_states, players, rng).copy()
        for row, decision in enumerate(make_search_decisions(self.game, info_states, players, self.seed)):
            values = self.solve(decision.info_state, decision.player, decision.stream(0, 0, DEALS))
            if values is not None:
                actions[row] = values.argmax()
        return actions


def make_endgame(
    game: Game,
    policy: str | None = None,
    samples: int = ENDGAME_SAMPLES,
    belief: str | None = None,
    seed: int = 0,
    *,
    resolve: Resolve,
) -> EndgameAgent:
    """The agent `endgame`; InvalidOption for a game without an endgame solver."""
    check_whole("endgame.samples", samples, 1)
    check_whole("endgame.seed", seed, 0)
    if policy is None:
        raise InvalidOption(
            "endgame.policy", policy, "an agent for the moves before the endgame, as in endgame:policy:random"
        )
    solve = make_endgame_solver(game, belief, samples)
    if solve is None:
        raise InvalidOption("agent", "endgame", f"another: {game.spec.name} has no endgames")
    return EndgameAgent(game, resolve(game, str(policy)), solve, seed)
