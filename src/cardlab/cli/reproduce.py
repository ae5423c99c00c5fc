"""`cardlab reproduce`: train policies again from what is recorded of them, and compare the bytes."""

from functools import partial

from cardlab.cli.verbs import Request
from cardlab.core.options import Text, Whole, check_that, checked
from cardlab.experiments.config.build_parts import build_game
from cardlab.experiments.reproduction import reproduce
from cardlab.experiments.training_records import find_records
from cardlab.tracking import Store

_KEY = "policies"


def run(request: Request) -> int:
    """Print what is checked and the verdict; the status is that of the first policy that is not as recorded."""
    config = request.config
    game = build_game(config["game"]).spec.name if config.get("game") else ""
    seed, store = checked("seed", config["seed"], Whole | None), Store()
    names = checked(_KEY, config[_KEY], tuple[Text, ...])
    records = [record for text in names for record in find_records(text, store, game, _KEY)]
    if seed is not None:
        known = [record.config.get("seed") for record in records]
        records = [record for record in records if record.config.get("seed") == seed]
        check_that(records, "seed", seed, f"one of {', '.join(map(str, known))}")
    statuses = [0]
    for record in records:
        print(f"{record.name}, seed {record.config.get('seed')}: {record.digest}")
        report = partial(print, "  ", sep="", flush=True)
        statuses.append(reproduce(record, store, train="--check" not in request.flags, report=report))
    return next(filter(None, statuses), 0)
