"""Difference of two agents against the same opponents on the same deals, paired.

Usage: paired_comparison.py OUTPUT.json game=NAME deals=N first=AGENT second=AGENT field=AGENT
`field` plays all other seats.
"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

import cardlab
from cardlab.evaluation.intervals import estimate
from cardlab.evaluation.match import paired
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.scores import play_matches

SEED = 20_000_001  # of the deals: the seed of every evaluation


def main(arguments: Sequence[str]) -> None:
    """Play both matches, print and write the result."""
    output, *pairs = arguments
    given = dict(pair.split("=", maxsplit=1) for pair in pairs)
    torch.set_num_threads(1)
    game = cardlab.make_game(given["game"])
    others = [given["field"]] * (game.spec.num_players - 1)
    options = ArenaOptions(deals=int(given["deals"]), seed=SEED, processes=int(given.get("processes", "1")))
    began = time.process_time()
    entries = {side: [given[side], *others] for side in ("first", "second")}
    matches = play_matches(game, entries, options, together=lambda _: 0)
    result = {
        **given,
        "seed": SEED,
        "cpu_seconds": round(time.process_time() - began),
        **{f"{side}_points": asdict(match.points) for side, match in matches.items()},
        "difference": asdict(estimate(paired(*(match.per_deal() for match in matches.values())))),
    }
    text = json.dumps(result, indent=2)
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    Path(output).write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
