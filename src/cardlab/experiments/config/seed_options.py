"""Options that only `cardlab train` and params.yaml have: the number of seeds, and the launcher of processes."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from cardlab.core.options import check_that, check_whole, invalid
from cardlab.training.options import TrainerOptions


def check_launcher(trainer: TrainerOptions) -> None:
    """Raise InvalidOption for `launcher=ray`, which only `cardlab train` can use."""
    if trainer.launcher != "processes":
        raise invalid(trainer, "launcher", "processes; only cardlab train uses ray")


RESUME, SEEDS, LIKE = "resume", "seeds", "like"
OWN_KEYS = (RESUME, SEEDS, LIKE, "tags", "note")
"""Keys of conf/train.yaml that decide no training: the experiment and its folder do not have them."""
MAX_SEEDS = 1000


def experiment_part(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of one training in that of `cardlab train` or in an entry of params.yaml."""
    return {key: value for key, value in config.items() if key not in OWN_KEYS}


def parse_seeds(value: object, first: object) -> tuple[int, ...]:
    """The seeds of `seeds=3` (first, first + 1, first + 2) or `seeds=[1,2,3]`, sorted. Raises InvalidOption."""
    if not isinstance(value, list | tuple):
        number, start = check_whole(SEEDS, value, 1, MAX_SEEDS), check_whole("seed", first, 0, 2**63 - 1 - MAX_SEEDS)
        return tuple(range(start, start + number))
    seeds = tuple(check_whole(SEEDS, seed, 0, 2**63 - 1) for seed in cast(Sequence[object], value))
    different = seeds and len(set(seeds)) == len(seeds)
    check_that(different, SEEDS, value, "a number of seeds, or a list of different ones such as [1,2,3]")
    return tuple(sorted(seeds))
