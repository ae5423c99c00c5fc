"""Options of conf/trainer/: budget and machine of a training."""

from typing import Literal

from cardlab.core.options import Flag, Number, Text, Whole, invalid, option, options
from cardlab.evaluation.options import MAX_DEALS, MIN_DEALS, Launcher

MAX_DECISIONS = 10**12  # years on any machine; a larger number is a typing error


@options("trainer")
class TrainerOptions:
    """Budget and machine of a training; budgets are counts, never seconds, so that a run is the same on any machine."""

    decisions: Whole = option(400_000, "budget: decisions of the learner in all", ge=1, le=MAX_DECISIONS)
    stop_after: Whole | None = option(
        None, "decisions after which training stops before its budget ends; null: at the budget", ge=1
    )
    start_from: Text | None = option(
        None,
        "runs/NAME/latest/training: resume that training; folder of a policy: take its weights; null: fresh weights",
    )
    parallel_games: Whole = option(128, "parallel games", ge=1, le=1_000_000)
    ask_forced: Flag = option(False, "ask for and learn from decisions with a single legal action")
    threads: Whole = option(1, "torch threads of each process", ge=1, le=1024)
    processes: Whole = option(
        1, "processes that train one learner together; they share games, decisions and minibatches", ge=1, le=256
    )
    launcher: Launcher = "processes"
    device: Literal["cpu", "gpu"] = option("cpu", "device of the network: cpu or gpu")
    precision: Literal["float32", "bfloat16"] = option(
        "float32", "precision of matrix products in training: float32 or bfloat16; weights stay float32"
    )
    overlap: Flag = option(
        False, "play the next rollout during an update, with the weights before that update; faster on a GPU"
    )
    compile: Flag = option(False, "compile the network with torch.compile (takes about a minute)")
    checkpoint_seconds: Number = option(
        60.0, "seconds between checkpoints, at first fewer: maximum work lost by a kill or Ctrl-C", ge=0
    )
    evaluations: Whole = option(10, "points on the learning curve", ge=0)
    evaluation_deals: Whole = option(
        200, "deals against each reference at each point of the learning curve", ge=MIN_DEALS, le=MAX_DEALS
    )
    evaluation_lineup: tuple[Text, ...] = option(
        (), "agents at the other seats of one more match at each point of the learning curve, e.g. [greedy,random]"
    )
    exploitability: Flag = option(
        False, "measure the exact exploitability at each point of the learning curve, in games of open_spiel"
    )
    patience: Whole = option(
        0,
        "points of the learning curve without a new best after which training stops with the best policy; 0: never",
        ge=0,
    )
    rolling_window: Whole = option(
        0, "iterations in the rolling means of losses, return, length and win rate in MLflow; 0: none", ge=0, le=100_000
    )
    snapshots: Whole = option(5, "policies kept during training, evenly spaced, the last one included", ge=0)

    def __post_init__(self) -> None:
        if self.stop_after is not None and self.stop_after > self.decisions:
            allowed = f"a whole number in [1, {self.decisions}], the budget trainer.decisions"
            raise invalid(self, "stop_after", allowed)
        if self.processes > self.parallel_games:
            allowed = f"a whole number in [1, {self.parallel_games}], the number of trainer.parallel_games"
            raise invalid(self, "processes", allowed)
