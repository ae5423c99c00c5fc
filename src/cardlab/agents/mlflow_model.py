"""A policy as MLflow's python_function, for `mlflow.pyfunc.load_model`; the model contains no pickle.

    model = mlflow.pyfunc.load_model("models:/cardlab-thirty_one@champion")
    actions = model.predict({"info_states": info_states.view(np.uint8).reshape(N, -1), "players": players})
    actions = model.predict({"observations": game.observe(info_states, players), "legal": legal})  # [N, F], [N, A]

All policies accept InfoStates. Policies whose network has no other inputs also accept observations with legal actions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from cardlab.agents.network_agents import ActionValueAgent, AfterstateAgent, SoftmaxAgent, sample_place
from cardlab.agents.policy_descriptions import GAME_FILE, PolicyError, game_for, policy_game
from cardlab.agents.policy_files import load_policy
from cardlab.core.files import load_json
from cardlab.games.array_checks import check_valid
from cardlab.games.make_game import game_of
from cardlab.games.protocol import Actions, Game, InfoStates
from cardlab.networks.inputs import Inputs

NOT_IN_DIGEST = "answers requests of MLflow"


@dataclass(frozen=True)
class PolicyModel:
    """A policy with MLflow's `predict`; inputs are arrays, or lists from JSON."""

    game: Game
    policy: Any  # a Policy with a `network`

    def predict(self, model_input: Mapping[str, Any]) -> Actions:
        """[N] actions for `info_states` [N, bytes] with `players` [N], or `observations` [N, F] with `legal` [N, A].

        Equal values of `seed` give equal actions. Raises PolicyError for other keys or shapes.
        """
        if not isinstance(cast(object, model_input), Mapping):  # as MLflow passes it on
            raise PolicyError(f"predict: got {type(model_input).__name__}: must be a dictionary of arrays")
        rng = np.random.default_rng(_seed(model_input["seed"]) if "seed" in model_input else None)
        given = set(model_input) - {"seed"}
        if given == {"info_states", "players"}:
            players = _array(model_input, "players", np.int8, ())
            records = _array(model_input, "info_states", np.uint8, (self.game.state_dtype.itemsize,))
            _check_equal(info_states=len(records), players=len(players))
            most = self.game.spec.num_players - 1
            if not ((players >= 0) & (players <= most)).all():
                raise PolicyError(f"players: must be 0 to {most}")
            info_states = InfoStates(records.view(self.game.state_dtype)[:, 0])
            check_valid("info_states", info_states, self.game)
            return self.policy.act(info_states, players, rng)
        if given == {"observations", "legal"}:
            return self._by_observation(model_input, rng)
        raise PolicyError(f"predict: got {sorted(given)}: must be info_states and players, or observations and legal")

    def _by_observation(self, model_input: Mapping[str, Any], rng: np.random.Generator) -> Actions:
        spec, network = self.game.spec, self.policy.network
        opens = isinstance(self.policy, ActionValueAgent) and (self.policy.opening_list or self.policy.whole_opening)
        if network.reads_actions or opens or isinstance(self.policy, AfterstateAgent):
            raise PolicyError("observations: this policy needs other inputs; pass info_states and players")
        observations = _array(model_input, "observations", np.float32, (spec.num_features,))
        legal = _array(model_input, "legal", np.bool_, (spec.num_actions,))
        _check_equal(observations=len(observations), legal=len(legal))
        if not np.isfinite(observations).all():
            raise PolicyError("observations: must be finite numbers")
        if not (allowed := legal.any(axis=1)).all():
            raise PolicyError(f"legal[{allowed.argmin()}]: must have a legal action")
        with torch.inference_mode():
            scores = network(Inputs(torch.from_numpy(observations), torch.from_numpy(legal)))[0].float()
        if isinstance(self.policy, SoftmaxAgent) and not self.policy.greedy:
            chances = scores.log_softmax(dim=-1).numpy()
            starts = np.arange(len(chances) + 1) * spec.num_actions
            places = sample_place(chances.ravel(), starts, rng.random(len(chances), dtype=np.float32))
            return (places - starts[:-1]).astype(np.int16)
        return scores.argmax(dim=-1).numpy().astype(np.int16)


def load_model_folder(folder: Path) -> PolicyModel:
    """The policy in `folder`, for the game of GAME_FILE, or for the game that it was trained for."""
    try:
        options = load_json(folder / GAME_FILE)
        game = game_for(folder, game_of(options, str(folder / GAME_FILE)))
    except FileNotFoundError:
        game = policy_game(folder)
    return PolicyModel(game, load_policy(game, folder))


def _load_pyfunc(path: str) -> PolicyModel:  # pyright: ignore[reportUnusedFunction]
    """Called by MLflow: the model names this module as its loader."""
    return load_model_folder(Path(path))


def _check_equal(**lengths: int) -> None:
    if len(set(lengths.values())) > 1:
        shown = " and ".join(f"{length} of {name}" for name, length in lengths.items())
        raise PolicyError(f"predict: got {shown}: must be equally many")


def _seed(given: object) -> int:
    """`given` as a seed of numpy; raises PolicyError for anything but a whole number of at least 0."""
    if not isinstance(given, int | np.integer) or given < 0:
        raise PolicyError(f"seed: got {given!r}: must be a whole number of at least 0")
    return int(given)


def _array(data: Mapping[str, Any], key: str, dtype: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """`data[key]` as a contiguous array [N, *shape]; raises PolicyError if it is none, or if `dtype` cannot hold it."""
    kind = np.dtype(dtype)
    try:
        given = np.asarray(data[key])
        with np.errstate(invalid="ignore"):
            array = np.ascontiguousarray(given, dtype=kind)
    except (TypeError, ValueError, OverflowError) as error:
        raise PolicyError(f"{key}: must be an array of {kind} ({error})") from error
    if kind.kind != "f" and not np.array_equal(array, given):
        raise PolicyError(f"{key}: must be an array of {kind}: it has other values")
    if array.ndim != 1 + len(shape) or array.shape[1:] != shape:
        wanted = ", ".join(["N", *map(str, shape)])
        raise PolicyError(f"{key}: shape {list(array.shape)}: must be [{wanted}]")
    return array
