"""Any agent with the game's endgames behind it: `endgame:policy:planner`."""

from dataclasses import dataclass

import numpy as np

from cardlab.agents.search.builders import ENDGAME_SAMPLES, EndgameSolver, Resolve, find_endgame
from cardlab.agents.search.decisions import DEALS, make_decisions
from cardlab.core.options import InvalidOption, check_range
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Actions, Game, InfoStates, Players


@dataclass(frozen=True)
class EndgameAgent:
    """Plays as `policy` does, but by the game's endgame where it is solvable: a function of position and seed there."""

    game: Game
    policy: Agent
    solve: EndgameSolver
    seed: int = 0

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; only `policy` draws from `rng`, and it is asked about every decision."""
        actions = self.policy.act(info_states, players, rng).copy()
        for row, decision in enumerate(make_decisions(self.game, info_states, players, self.seed)):
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
    """The agent `endgame` with these options; InvalidOption for a game without endgames."""
    check_range("endgame.samples", samples, 1, whole=True)
    check_range("endgame.seed", seed, 0, whole=True)
    if policy is None:
        raise InvalidOption("endgame.policy", policy, "an agent to play by before, as in endgame:policy:random")
    solve = find_endgame(game, belief, samples)
    if solve is None:
        raise InvalidOption("agent", "endgame", f"another: {game.spec.name} has no endgames")
    return EndgameAgent(game, resolve(game, str(policy)), solve, seed)
