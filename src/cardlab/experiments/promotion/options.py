"""What a challenge is decided by."""

from dataclasses import dataclass

from cardlab.core.options import check_range

PROMOTION_SEED = 30_000_001  # far from the seeds of training, tuning and evaluation


@dataclass(frozen=True)
class PromotionOptions:
    """Against whom a champion is measured, when a match may stop, how large a champion may be."""

    reference: str = "random"
    """Whom the first champion of a game must beat."""
    sequential: bool = False
    """Stop as soon as it is clear who is stronger; the interval then holds at all looks together, and is wider."""
    max_megabytes: float = 5.0
    """The most that the files of a champion may take: they go into git."""
    ladder: tuple[str, ...] = ()
    """Who the challenger must win more from than the champion does, and not lose to it; none: it must beat it."""

    def __post_init__(self) -> None:
        check_range("max_megabytes", self.max_megabytes, 0, open_low=True)
