"""Metrics of MLflow that describe games: win rate of an iteration, running totals and rolling means."""

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from cardlab.learners.rollouts.experience import Experience

NOT_IN_DIGEST = "adds metrics to MLflow only; the learning curve has none of them"

WIN_RATE = "train/win_rate"
_ROLLING = ("loss", "return", "episode_length")


class GameTotals:
    """Metrics beside the learning curve; `window` iterations are in a rolling mean, 0 for none."""

    def __init__(self, window: int) -> None:
        self._window: deque[dict[str, float]] = deque(maxlen=window)
        self._games, self._points = 0, 0.0

    def add(self, metrics: Mapping[str, float], batch: Experience) -> dict[str, float]:
        """The metrics after one more iteration, by its own `metrics` and the games of this process."""
        mine = batch.seats == 0
        self._games += len(batch.payoffs)
        self._points += float(batch.payoffs[mine].sum())
        found = {"train/games": float(self._games), "train/total_points": self._points}
        mine &= (batch.seats > 0).any(axis=1, keepdims=True)  # a game against itself says nothing
        if mine.any():
            best = batch.payoffs == batch.payoffs.max(axis=1, keepdims=True)
            found[WIN_RATE] = float((best / best.sum(axis=1, keepdims=True))[mine].mean())
        all_metrics = {**metrics, **found}
        names = [name for name in all_metrics if name == WIN_RATE or any(part in name for part in _ROLLING)]
        rolled = {name: all_metrics[name] for name in names}
        self._window.append(rolled)
        if self._window.maxlen:
            found |= {f"rolling/{name.removeprefix('train/')}": self._mean(name) for name in rolled}
        return found

    def _mean(self, name: str) -> float:
        return float(np.mean([metrics[name] for metrics in self._window if name in metrics]))

    def state_dict(self) -> dict[str, Any]:
        """The totals and the window, for a checkpoint."""
        return {"window": list(self._window), "games": self._games, "points": self._points}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the content of `state_dict`."""
        self._window.extend(state["window"])
        self._games, self._points = int(state["games"]), float(state["points"])
