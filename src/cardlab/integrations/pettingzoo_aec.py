"""All seats of one game as a PettingZoo AEC environment, in which the players move one after the other."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from pettingzoo import AECEnv

from cardlab.games.protocol import Floats, Game
from cardlab.integrations.gymnasium_envs import (
    RENDER_MODES,
    action_space,
    check_render_mode,
    deck_option,
    observation_space,
    resolve_game,
)
from cardlab.integrations.parallel_games import check_actions

AgentName = str
AgentObservation = dict[str, Any]


class GameAEC(AECEnv[AgentName, AgentObservation, Any]):
    """`player_0`, `player_1`, … in one game.

    An observation is {"observation": [F] float32, "action_mask": [A] int8}; the mask of players who wait is all zeros.
    Rewards are differences of the payoffs. An illegal action raises IllegalAction; with PettingZoo's
    TerminateIllegalWrapper it ends the game. `reset(options={"deck": [cards]})` deals a given order.
    """

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        super().__init__()
        self.game = game
        self.render_mode = check_render_mode(render_mode)
        self.metadata = {"name": f"{game.spec.name}_v0", "render_modes": list(RENDER_MODES), "is_parallelizable": False}
        self.possible_agents = [f"player_{player}" for player in range(game.spec.num_players)]
        mask = gymnasium.spaces.Box(0, 1, (game.spec.num_actions,), np.int8)
        space = gymnasium.spaces.Dict({"observation": observation_space(game), "action_mask": mask})
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces: dict[AgentName, gymnasium.spaces.Space[Any]] = {
            agent: action_space(game) for agent in self.possible_agents
        }
        self.agents: list[AgentName] = []
        self._rng: np.random.Generator | None = None

    def observation_space(self, agent: AgentName) -> gymnasium.spaces.Space[AgentObservation]:
        """The space of one observation; equal for all players."""
        return self.observation_spaces[agent]

    def action_space(self, agent: AgentName) -> gymnasium.spaces.Space[Any]:
        """The space of one action; equal for all players."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal a new game; `options` may contain its deck."""
        if seed is not None or self._rng is None:
            self._rng, _ = seeding.np_random(seed)
        self._states = self.game.deal(1, self._rng, deck_option(options, self.game))
        self._paid: Floats = self.game.payoffs(self._states)[0]
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._select()

    def observe(self, agent: AgentName) -> AgentObservation:
        """The observation of `agent`, and its legal actions if it is to move."""
        players = np.array([self.possible_agents.index(agent)], dtype=np.int8)
        info_states = self.game.information(self._states, players)
        mask = np.zeros(self.game.spec.num_actions, dtype=np.int8)
        if self.game.current_player(self._states)[0] == players[0]:
            mask = self.game.legal_actions(info_states)[0].astype(np.int8)
        return {"observation": self.game.observe(info_states, players)[0], "action_mask": mask}

    def step(self, action: "int | None") -> None:
        """Play `action` for `agent_selection`; None removes a player whose game is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{self.game.spec.name}: action=None: must be an action of {agent}, who is to move")
        chosen = check_actions(self.game.legal_actions(self._states), np.array([action]), self.game.spec.name)
        self._cumulative_rewards[agent] = 0.0
        self.game.apply(self._states, chosen)
        paid = self.game.payoffs(self._states)[0]
        self.rewards = dict(zip(self.possible_agents, (paid - self._paid).tolist(), strict=True))
        self._paid = paid
        if self.game.is_over(self._states)[0]:
            self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self._select()

    def render(self) -> str | None:
        """The game from the view of the player to move, as text; None unless the render mode is `ansi`."""
        return self._text() if self.render_mode == "ansi" else None

    def close(self) -> None:
        """No-op: nothing is open."""

    def _select(self) -> None:
        mover = int(self.game.current_player(self._states)[0])  # -1 when over: PettingZoo removes players one by one
        self.agent_selection = self.possible_agents[mover] if mover >= 0 else self.agents[0]
        if self.render_mode == "human":
            print(self._text(), end="\n\n")

    def _text(self) -> str:
        mover = self.possible_agents.index(self.agent_selection)
        info_states = self.game.information(self._states, np.array([mover], dtype=np.int8))
        return f"{self.agent_selection}\n{self.game.render(info_states[0])}"


def make_aec(game: Game | str, *, render_mode: str | None = None, **options: Any) -> GameAEC:
    """All seats of `game`, which is a game or a name with its `options`; see GameAEC."""
    return GameAEC(resolve_game(game, options), render_mode)
