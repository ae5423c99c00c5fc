"""The budget of a training run and the machine it may use: conf/trainer/."""

from dataclasses import dataclass

from cardlab.core.options import check_choice, check_range
from cardlab.evaluation.options import MAX_DEALS, MIN_DEALS

MOST_DECISIONS = 10**12  # years on any machine: more is a slip of the pen


@dataclass(frozen=True)
class TrainerOptions:
    """`trainer=…`: budgets are counts, never seconds, so that a run is the same on any machine."""

    decisions: int = 1_000_000  # of the learner, in all: what annealing goes by
    stop_after: int | None = None  # decisions after which training ends short of its budget; none: at the budget
    start_from: str | None = None  # folder of an earlier stretch or of a policy (start.py); none: fresh weights
    tables: int = 1024  # games side by side
    ask_forced: bool = False  # whether a decision with a single legal action is asked for, and learned from
    threads: int = 1  # of torch, in each process
    processes: int = 1  # that train one learner together: tables, decisions and minibatches are shared among them
    device: str = "cpu"
    precision: str = "float32"  # or bfloat16: of the matrix products in training; weights stay float32
    compile: bool = False  # whether torch.compile translates the network's passes first
    checkpoint_seconds: float = 60.0
    evaluations: int = 20  # points on the strength curve
    evaluation_deals: int = 500  # per reference and point
    evaluation_table: tuple[str, ...] = ()  # agents at the other seats of one more match at each point
    patience: int = 0  # points without a new best after which training stops; 0: never
    snapshots: int = 5  # policies kept on the way, evenly spaced, the last among them

    def __post_init__(self) -> None:
        check_range("trainer.decisions", self.decisions, 1, MOST_DECISIONS, whole=True)
        if self.stop_after is not None:
            check_range("trainer.stop_after", self.stop_after, 1, self.decisions, whole=True)
        check_range("trainer.tables", self.tables, 1, 1_000_000, whole=True)
        check_range("trainer.threads", self.threads, 1, 1024, whole=True)
        check_range("trainer.processes", self.processes, 1, min(256, self.tables), whole=True)
        check_choice("trainer.device", self.device, ("cpu", "gpu"))
        check_choice("trainer.precision", self.precision, ("float32", "bfloat16"))
        check_range("trainer.checkpoint_seconds", self.checkpoint_seconds, 0)
        check_range("trainer.evaluations", self.evaluations, 0, whole=True)
        check_range("trainer.evaluation_deals", self.evaluation_deals, MIN_DEALS, MAX_DEALS, whole=True)
        check_range("trainer.patience", self.patience, 0, whole=True)
        check_range("trainer.snapshots", self.snapshots, 0, whole=True)

    def rounds(self, decisions_per_round: int) -> int:
        """Rounds that the budget gives."""
        return -(-self.decisions // decisions_per_round)

    def last_round(self, decisions_per_round: int) -> int:
        """The round after which training ends: that of the budget, or of `stop_after`."""
        return -(-(self.stop_after or self.decisions) // decisions_per_round)
