"""Every seat of one table as a PettingZoo AEC environment, which asks the players one after the other."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from pettingzoo import AECEnv

from cardlab.games.protocol import Floats, Game
from cardlab.integrations.parallel_games import check_actions
from cardlab.integrations.spaces import RENDER_MODES, actions_of, check_render_mode, deck_of, game_of, observation_box

AgentName = str
Observation = dict[str, Any]


class GameAEC(AECEnv[AgentName, Observation, Any]):
    """`player_0`, `player_1`, … at one table.

    An observation is {"observation": [F] float32, "action_mask": [A] int8}; the mask is all zeros but for who is to
    move. Rewards are differences of the payoffs. An illegal action raises IllegalAction; PettingZoo's
    TerminateIllegalWrapper makes it the end of the game. `reset(options={"deck": [52 cards]})` deals a given order.
    """

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        super().__init__()
        self.game = game
        self.render_mode = check_render_mode(render_mode)
        self.metadata = {"name": f"{game.spec.name}_v0", "render_modes": list(RENDER_MODES), "is_parallelizable": False}
        self.possible_agents = [f"player_{player}" for player in range(game.spec.num_players)]
        self.observation_spaces = {agent: _observation_space(game) for agent in self.possible_agents}
        self.action_spaces: dict[AgentName, gymnasium.spaces.Space[Any]] = {
            agent: actions_of(game) for agent in self.possible_agents
        }
        self.agents: list[AgentName] = []
        self._rng: np.random.Generator | None = None

    def observation_space(self, agent: AgentName) -> gymnasium.spaces.Space[Observation]:
        """The same for every player."""
        return self.observation_spaces[agent]

    def action_space(self, agent: AgentName) -> gymnasium.spaces.Space[Any]:
        """The same for every player."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal a new game; `options` may hold its deck."""
        if seed is not None or self._rng is None:
            self._rng, _ = seeding.np_random(seed)
        self._states = self.game.deal(1, self._rng, deck_of(options))
        self._paid: Floats = self.game.payoffs(self._states)[0]
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._select()

    def observe(self, agent: AgentName) -> Observation:
        """What `agent` may know, and what it may do if it is to move."""
        players = np.array([self.possible_agents.index(agent)], dtype=np.int8)
        known = self.game.information(self._states, players)
        mask = np.zeros(self.game.spec.num_actions, dtype=np.int8)
        if self.game.current_player(self._states)[0] == players[0]:
            mask = self.game.legal_actions(known)[0].astype(np.int8)
        return {"observation": self.game.observe(known, players)[0], "action_mask": mask}

    def step(self, action: "int | None") -> None:
        """Play `action` for `agent_selection`; None takes a player out when the game is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        legal = self.game.legal_actions(self._states)
        if action is None:
            raise ValueError(f"{self.game.spec.name}: {agent} is to move: None is for players whose game is over")
        chosen = check_actions(legal, np.array([action]), self.game.spec.name)
        self._cumulative_rewards[agent] = 0.0
        self.game.apply(self._states, chosen)
        paid = self.game.payoffs(self._states)[0]
        gained = paid - self._paid
        self.rewards = {name: float(gained[player]) for player, name in enumerate(self.possible_agents)}
        self._paid = paid
        if self.game.is_over(self._states)[0]:
            self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self._select()

    def render(self) -> str | None:
        """The table as the player to move sees it; None without the render mode `ansi`."""
        return self._text() if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Nothing is held open."""

    def _select(self) -> None:
        mover = int(self.game.current_player(self._states)[0])
        if mover >= 0:
            self.agent_selection = self.possible_agents[mover]
        else:  # over: PettingZoo takes the players out one by one
            self.agent_selection = self.agents[0]
        if self.render_mode == "human":
            print(self._text(), end="\n\n")

    def _text(self) -> str:
        mover = self.possible_agents.index(self.agent_selection)
        known = self.game.information(self._states, np.array([mover], dtype=np.int8))
        return f"{self.agent_selection}\n{self.game.render(known[0])}"


def _observation_space(game: Game) -> gymnasium.spaces.Dict:
    mask = gymnasium.spaces.Box(0, 1, (game.spec.num_actions,), np.int8)
    return gymnasium.spaces.Dict({"observation": observation_box(game), "action_mask": mask})


def make_aec(game: Game | str, *, render_mode: str | None = None, **options: Any) -> GameAEC:
    """All seats of `game` (a name with its `options`, or made already); see GameAEC."""
    return GameAEC(game_of(game, options), render_mode)
