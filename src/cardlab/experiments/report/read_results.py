"""Reads and checks the results of the other stages: evaluations, learning curves, statistics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardlab.agents.specs import SEED
from cardlab.core.files import load_json
from cardlab.evaluation.intervals import SELF, Estimate, main_score
from cardlab.experiments.exploitability import EXPLOITABILITY
from cardlab.experiments.learning_curves import EXACT, Column, read_columns
from cardlab.tracking.lineage import CURVE

FORMAT = 1  # of every JSON file here


class ResultError(ValueError):
    """A result file is missing or invalid; the message is one line that names it."""


@dataclass(frozen=True)
class Result:
    """Configuration and results of one experiment."""

    name: str
    config: Mapping[str, Any]  # as in params.yaml
    evaluation: Mapping[str, Any]  # as in evaluation.json
    curve: Mapping[str, Column]  # column → [points]; NaN where a point has no value
    snapshot_matches: Mapping[str, Any] | None = None  # as in snapshot_matches.json
    game_statistics: Mapping[str, Any] | None = None  # as in game_statistics.json
    calibration: Mapping[str, Column] | None = None  # column → [bins]
    seed_curves: Mapping[str, Column] | None = None  # the curves of all seeds, with a column `seed`

    @property
    def game(self) -> str:
        """Name of the game."""
        return str(self.evaluation["game"])

    @property
    def alone(self) -> bool:
        """Whether the game has one player, so that points are the only measure."""
        return SELF in self.evaluation["references"]

    @property
    def policy_digest(self) -> str:
        """Digest of the policy of the first seed."""
        return str(self.evaluation["policy_digest"])

    @property
    def seeds(self) -> Sequence[int]:
        """Seeds of the trainings that the scores are means of."""
        return self.evaluation["seeds"]

    @property
    def first_policy(self) -> str:
        """Folder of the policy of the first seed, with which the experiment plays tournaments."""
        return f"models/{self.name}/{SEED}{self.seeds[0]}"

    @property
    def policies(self) -> Mapping[int, str]:
        """Seed → digest of its policy."""
        return {int(seed): entry["policy_digest"] for seed, entry in self.evaluation["by_seed"].items()}

    @property
    def main_score(self) -> tuple[str, Estimate]:
        """The strongest reference and the score against it; one player: "self" and the policy's own score."""
        return main_score(dict(self.evaluation))

    @property
    def strongest_reference(self) -> tuple[str, float]:
        """The strongest reference and the score that equals it: its own for one player, else 0."""
        if not self.alone:
            return self.main_score[0], 0.0
        scores = {name: row["mean"] for name, row in self.evaluation["references"].items() if name != SELF}
        return max(scores.items(), key=lambda entry: entry[1])

    @property
    def exact(self) -> tuple[str, Estimate] | None:
        """`exploitability` or `nash_conv` at the end, with the interval over seeds; None if it was not measured."""
        name = next((name for name in EXACT if name in self.curve), None)
        if name is None:
            return None
        mean, low, high = (
            float(self.curve.get(key, self.curve[name])[-1])
            for key in (name, f"interval/{name}_low", f"interval/{name}_high")
        )
        return name, Estimate(mean, low, high, 0)

    def points(self, reference: str) -> Estimate:
        """Points against `reference`; for one player the points of `reference` itself."""
        row = self.evaluation["references"][reference]
        return Estimate(row["mean"], row["low"], row["high"], row["deals"])

    def win_rate(self, reference: str) -> Estimate | None:
        """Share of games won against `reference`; None for one player."""
        row = self.evaluation["references"][reference]
        if row.get("win_rate") is None:
            return None
        return Estimate(row["win_rate"], row["win_rate_low"], row["win_rate_high"], row["deals"])


def read_results(folder: Path, experiments: Mapping[str, Any]) -> list[Result]:
    """The results of `experiments` (name → configuration) in order; ResultError when one is missing or damaged.

    Files of optional stages may be missing, but not damaged.
    """
    return [_read_result(folder / name, name, config) for name, config in experiments.items()]


def _read_result(folder: Path, name: str, config: Mapping[str, Any]) -> Result:
    evaluation = read_json(folder / "evaluation.json", "an evaluation", ("references", "seeds", "by_seed"))
    if not evaluation["references"]:
        raise ResultError(f"{folder / 'evaluation.json'}: is without references: run `dvc repro`")
    calibration, seed_curves = folder / "calibration.csv", folder / "seed_curves.csv"
    return Result(
        name,
        config,
        evaluation,
        _read_columns(folder / CURVE, "a learning curve"),
        snapshot_matches=_read_optional(
            folder / "snapshot_matches.json", "snapshot matches", ("decisions", "margins", "references")
        ),
        game_statistics=_read_optional(
            folder / "game_statistics.json", "game statistics", ("length", "outcomes", "calibration")
        ),
        calibration=_read_columns(calibration, "a calibration") if calibration.exists() else None,
        seed_curves=_read_columns(seed_curves, "learning curves of seeds") if seed_curves.exists() else None,
    )


def read_tournaments(folder: Path) -> list[Mapping[str, Any]]:
    """The tournaments in `folder`, one file each, in the order of their names; ResultError when one is damaged."""
    keys = ("game", "num_players", "deals", "standings", "cells", "cycles")
    return [read_json(path, "a tournament", keys) for path in sorted(folder.glob("*.json"))]


def read_comparisons(folder: Path, names: Iterable[str]) -> list[Mapping[str, Any]]:
    """The comparisons NAME.json in `folder` of those that are there; ResultError when one is damaged."""
    files = (folder / f"{name}.json" for name in sorted(names))
    return [read_json(file, "a comparison", ("game", "pairs")) for file in files if file.exists()]


def read_methods(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Game → comparison of the learners on it, as studies/methods writes it; empty without the file."""
    found = _read_optional(path, "a table of methods", ("games",))
    return {} if found is None else found["games"]


def read_exploitability(champions: Path) -> dict[str, Mapping[str, Any]]:
    """Game → what learners have won from its champion, where that was measured; ResultError when a file is damaged."""
    files = sorted(champions.glob(f"*/{EXPLOITABILITY}"))
    return {file.parent.name: read_json(file, "a table of responses", ("responses",)) for file in files}


def read_json(path: Path, what: str, keys: Sequence[str]) -> Mapping[str, Any]:
    """Read a JSON file with `keys`; ResultError, which calls it `what`, for any other."""
    try:
        content = load_json(path)
        version = content["format"]
        missing = [key for key in keys if key not in content]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultError(f"{path}: is not {what} ({error!r}): run `dvc repro`") from error
    if version != FORMAT:
        raise ResultError(f"{path}: format {version}, this version reads {FORMAT}: run `dvc repro`")
    if missing:
        raise ResultError(f"{path}: is {what} without {', '.join(missing)}: run `dvc repro`")
    return content


def _read_optional(path: Path, what: str, keys: Sequence[str]) -> Mapping[str, Any] | None:
    return read_json(path, what, keys) if path.exists() else None


def _read_columns(path: Path, what: str) -> Mapping[str, Column]:
    try:
        return read_columns(path)
    except FileNotFoundError as error:
        raise ResultError(f"{path}: {what} is missing: run `dvc repro`") from error
    except (OSError, ValueError, TypeError) as error:
        raise ResultError(f"{path}: is not {what} ({error}): run `dvc repro`") from error
