"""OpenSpiel's own learners in self-play: PPO, NFSP and regret policy gradients of `open_spiel.python.pytorch`.

NFSP and policy gradients: an agent for each seat, in the loop of the library's examples. The library's PPO learns in
environments for one player. Here one network plays both seats in eight games, as in cardlab's self-play. The decisions
of each seat of a finished game follow each other in the buffer, as those of one environment do.
"""

import random
from collections.abc import Callable, Iterator
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np
import pyspiel
import torch
from numpy.typing import NDArray
from open_spiel.python.pytorch.policy_gradient import PolicyGradient
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.rl_environment import ChanceEventSampler, Environment, TimeStep

from cardlab.games.protocol import Actions, Floats, Game, InfoStates, Players

NUM_ENVS, NUM_STEPS = 8, 128  # of examples/ppo_example.py
STREAMS = 16  # columns of the buffer of 8 x 128 decisions
PPO_OPTIONS = {"num_minibatches": 4, "update_epochs": 4, "learning_rate": 2.5e-4, "gamma": 0.99, "clip_coef": 0.1}
NFSP_OPTIONS = {  # of examples/nfsp_leduc_pytorch.py
    "hidden_layers_sizes": [128],
    "replay_buffer_capacity": 200_000,
    "reservoir_buffer_capacity": 2_000_000,
    "min_buffer_size_to_learn": 1000,
    "anticipatory_param": 0.1,
    "batch_size": 128,
    "learn_every": 64,
    "rl_learning_rate": 0.01,
    "sl_learning_rate": 0.01,
    "optimizer_str": "sgd",
    "loss_str": "mse",
    "update_target_network_every": 19_200,
    "discount_factor": 1.0,
    "epsilon_decay_duration": 20_000_000,
    "epsilon_start": 0.06,
    "epsilon_end": 0.001,
}
Chances = Callable[[Floats, NDArray[np.bool_], Players], NDArray[np.float64]]
"""Of tensors [N, F], legal actions [N, A] and players [N]: the probabilities of the actions [N, A]."""


class PeerAgent:
    """A policy of OpenSpiel as cardlab's: `act` plays the likeliest action, `evaluate` has the probabilities."""

    def __init__(self, game: Game, chances: Chances) -> None:
        self.game, self.chances = game, chances

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] likeliest actions."""
        return self.evaluate(info_states, players)[0].argmax(axis=1).astype(np.int16)

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, A]; the values are not known."""
        tensors = self.game.observe(info_states, players)[:, : self.game.spec.blocks[0].size]
        legal = self.game.legal_actions(info_states)
        with np.errstate(divide="ignore"):
            logs = np.log(np.where(legal, self.chances(tensors, legal, players), 0))
        return logs.astype(np.float32), np.zeros(len(players), dtype=np.float32)


def learn(game: Game, learner: str, decisions: int, seed: int, marks: list[int]) -> Iterator[tuple[int, float, Any]]:
    """Train for `decisions`; yield decisions, CPU seconds and policy at each mark, the last being `decisions`."""
    text = str(game.spec.options["text"])
    seconds, waiting, start = 0.0, list(marks), process_time()
    for done, chances in LEARNERS[learner](text, decisions, seed):
        seconds += process_time() - start
        while waiting and done >= waiting[0]:
            yield done, seconds, PeerAgent(game, chances)
            del waiting[0]
        start = process_time()


def _seed_all(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (the library draws from it)
    torch.manual_seed(seed)


def _environment(text: str, seed: int) -> Environment:
    return Environment(pyspiel.load_game(text), chance_event_sampler=ChanceEventSampler(seed=seed))


def _learn_ppo(text: str, decisions: int, seed: int) -> Iterator[tuple[int, Chances]]:
    _seed_all(seed)
    envs = [_environment(text, NUM_ENVS * seed + place) for place in range(NUM_ENVS)]
    size, actions = envs[0].observation_spec()["info_state"][0], envs[0].action_spec()["num_actions"]
    steps = NUM_ENVS * NUM_STEPS // STREAMS
    agent = PPO((size,), actions, 2, 0, STREAMS, steps, **PPO_OPTIONS, agent_fn=PPOAgent)
    rollout, batch = Rollout(envs, agent, actions), NUM_ENVS * NUM_STEPS
    updates = -(-decisions // batch)

    def chances(tensors: Floats, legal: NDArray[np.bool_], _: Players) -> NDArray[np.float64]:
        with torch.no_grad():
            drawn = torch.zeros(len(tensors))  # given, so that nothing is drawn
            found = agent.get_action_and_value(torch.from_numpy(tensors), torch.from_numpy(legal), drawn)[-1]
        return found.double().numpy()

    for update in range(updates):
        while len(rollout.ready) <= batch:
            rollout.step()
        agent.anneal_learning_rate(update, updates)
        agent.learn(rollout.fill())
        yield (update + 1) * batch, chances


class Rollout:
    """Eight games at once; `ready` has the decisions of finished games, seat by seat."""

    def __init__(self, envs: list[Environment], agent: PPO, actions: int) -> None:
        self.envs, self.agent, self.actions = envs, agent, actions
        self.time_steps = [env.reset() for env in envs]
        self.games: list[list[list[list[Any]]]] = [[[], []] for _ in envs]
        self.ready: list[list[Any]] = []  # observation, legal actions, action, log-probability, value, reward, done

    def step(self) -> None:
        """One decision in each game."""
        movers = [step.observations["current_player"] for step in self.time_steps]
        seen = zip(self.time_steps, movers, strict=True)
        tensors = torch.tensor([step.observations["info_state"][mover] for step, mover in seen])
        legal = torch.zeros((len(movers), self.actions), dtype=torch.bool)
        for row, (step, mover) in enumerate(zip(self.time_steps, movers, strict=True)):
            legal[row, step.observations["legal_actions"][mover]] = True
        with torch.no_grad():
            chosen, logs, _, values, _ = self.agent.get_action_and_value(tensors, legal)
        found = zip(tensors, legal, chosen.tolist(), logs.tolist(), values.flatten().tolist(), strict=True)
        for place, (mover, decision) in enumerate(zip(movers, found, strict=True)):
            seats = self.games[place]
            seats[mover].append([*decision, 0.0, 0.0])
            after = self.envs[place].step([decision[2]])
            for seat, reward in zip(seats, after.rewards, strict=True):
                if seat:
                    seat[-1][5] += reward
            if after.last():
                for seat in seats:
                    if seat:
                        seat[-1][6] = 1.0
                        self.ready += seat
                self.games[place] = [[], []]
                after = self.envs[place].reset()
            self.time_steps[place] = after

    def fill(self) -> list[TimeStep]:
        """Move a batch from `ready` to the buffer of the agent; the time steps behind its columns."""
        agent = self.agent
        rows = agent.steps_per_batch
        batch = self.ready[: rows * STREAMS]
        behind = [self.ready[rows * (column + 1)][0] for column in range(STREAMS)]
        del self.ready[: rows * STREAMS]
        buffers = (agent.obs, agent.legal_actions_mask, agent.actions, agent.logprobs, agent.values)
        for buffer, values in zip((*buffers, agent.rewards, agent.dones), zip(*batch, strict=True), strict=True):
            columns = torch.stack(values) if torch.is_tensor(values[0]) else torch.tensor(values)
            buffer[:] = columns.reshape(STREAMS, rows, *columns.shape[1:]).transpose(0, 1)
        return [TimeStep({"info_state": [tensor.numpy()]}, None, None, None) for tensor in behind]


def _learn_nfsp(text: str, decisions: int, seed: int) -> Iterator[tuple[int, Chances]]:
    library: Any = import_module("open_spiel.python.pytorch.nfsp")  # needs dm-tree, which the extra open_spiel lacks
    env = _environment(text, seed)
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    agents = [library.NFSP(seat, size, actions, **NFSP_OPTIONS, seed=2 * seed + seat) for seat in (0, 1)]

    def act(seat: int, step: TimeStep) -> Any:
        with agents[seat].temp_mode_as(library.MODE.AVERAGE_POLICY):
            return agents[seat].step(step, is_evaluation=True).probs

    yield from _play_and_learn(env, agents, act, decisions, seed)


def _learn_rpg(text: str, decisions: int, seed: int) -> Iterator[tuple[int, Chances]]:
    _seed_all(seed)
    env = _environment(text, seed)
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    agents = [PolicyGradient(seat, size, actions, loss_str="rpg") for seat in (0, 1)]

    def act(seat: int, step: TimeStep) -> Any:
        return agents[seat].step(step, is_evaluation=True).probs

    yield from _play_and_learn(env, agents, act, decisions, seed)


def _play_and_learn(
    env: Environment, agents: list[Any], act: Callable[[int, TimeStep], Any], decisions: int, seed: int
) -> Iterator[tuple[int, Chances]]:
    """The loop of the library's examples; yields after each game."""
    _seed_all(seed)  # NFSP has set the generators at its start

    def chances(tensors: Floats, legal: NDArray[np.bool_], players: Players) -> NDArray[np.float64]:
        rows, state = [], np.random.get_state()  # noqa: NPY002 (what is measured draws nothing from the training)
        for tensor, allowed, player in zip(tensors, legal, players.tolist(), strict=True):
            seen: dict[str, Any] = {"info_state": [None, None], "legal_actions": [None, None], "current_player": player}
            seen["info_state"][player], seen["legal_actions"][player] = tensor.tolist(), np.flatnonzero(allowed)
            rows.append(act(player, TimeStep(seen, [0, 0], [1, 1], None)))
        np.random.set_state(state)  # noqa: NPY002
        return np.array(rows, dtype=np.float64)

    done = 0
    while done < decisions:
        step = env.reset()
        while not step.last():
            player = step.observations["current_player"]
            step = env.step([agents[player].step(step).action])
            done += 1
        for agent in agents:
            agent.step(step)
        yield done, chances


LEARNERS: dict[str, Callable[[str, int, int], Iterator[tuple[int, Chances]]]] = {
    "open_spiel_ppo": _learn_ppo,
    "open_spiel_nfsp": _learn_nfsp,
    "open_spiel_rpg": _learn_rpg,
}
