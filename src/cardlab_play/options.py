"""Options of `cardlab play` (conf/play.yaml)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cardlab.core.options import InvalidOption, check_range

SEARCHES = {"monte_carlo": "monte_carlo:simulations:200", "tree": "tree:simulations:200"}


@dataclass(frozen=True)
class Limits:
    """What one session, one address and all together may ask of the server."""

    tables_per_session: int = 16  # open at once
    tables: int = 2000  # open at once, of all sessions
    kept_in_memory: int = 1000  # tables; others are played again from their actions when they are asked for
    idle_hours: float = 72.0  # then a table is given up
    session_rate: int = 20  # requests a second
    address_rate: int = 100  # requests a second
    body_bytes: int = 16_384
    name_length: int = 24

    def __post_init__(self) -> None:
        """Raise InvalidOption for what cannot be."""
        for key in ("tables_per_session", "tables", "kept_in_memory", "session_rate", "address_rate", "name_length"):
            check_range(f"play.limits.{key}", getattr(self, key), 1, 10_000_000, whole=True)
        check_range("play.limits.body_bytes", self.body_bytes, 256, 1_000_000, whole=True)
        check_range("play.limits.idle_hours", self.idle_hours, 0, 8760, open_low=True)


@dataclass(frozen=True)
class PlayOptions:
    """The server and its tables."""

    host: str = "127.0.0.1"
    port: int = 8765  # 0: any that is free
    hosts: tuple[str, ...] = ()  # names that a browser may call the server by; none: loopback's, or any on another host
    secure: bool = False  # the session's cookie is sent over HTTPS only
    folder: str = "runs/play"  # of the database and the secret
    database: str | None = None  # SQLAlchemy's address; none: sqlite in the folder
    secret: str | None = None  # from which daily deals follow; none: a file in the folder
    models: str = "models"  # folder of trained policies
    belief: Mapping[str, str] = field(default_factory=dict[str, str])  # game → folder of a trained belief
    advisor: str | None = None  # who advises; none: the first that can be chosen
    searches: Mapping[str, str] = field(default_factory=lambda: dict(SEARCHES))  # name → search, around any agent
    advice_deals: int = 64  # games that are played out for a win chance
    threads: int = 4  # that ask agents
    slow_threads: int = 2  # that search and advise
    warm: bool = True  # compile what games need when the server starts, not when it is first asked for
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Raise InvalidOption for what cannot be."""
        check_range("play.port", self.port, 0, 65535, whole=True)
        check_range("play.advice_deals", self.advice_deals, 1, 10_000, whole=True)
        check_range("play.threads", self.threads, 1, 64, whole=True)
        check_range("play.slow_threads", self.slow_threads, 1, 64, whole=True)
        if self.secret is not None and len(self.secret) < 16:
            raise InvalidOption("play.secret", "…", "at least 16 characters, or left out")
