"""Options of `cardlab play` (conf/play.yaml)."""

from collections.abc import Mapping

from cardlab.core.options import Flag, InvalidOption, Number, Text, Whole, option, options


@options("play.limits")
class Limits:
    """What one session, one address and all together may ask of the server."""

    tables_per_session: Whole = option(16, "open tables of one session", ge=1, le=10_000_000)
    tables: Whole = option(2000, "open tables of all sessions", ge=1, le=10_000_000)
    kept_in_memory: Whole = option(
        1000, "tables in memory; others are replayed from their actions on request", ge=1, le=10_000_000
    )
    idle_hours: Number = option(72.0, "hours without a request, after which a table is closed", gt=0, le=8760)
    session_rate: Whole = option(20, "requests per second of one session", ge=1, le=10_000_000)
    address_rate: Whole = option(100, "requests per second from one address", ge=1, le=10_000_000)
    body_bytes: Whole = option(16_384, "bytes of a request", ge=256, le=1_000_000)
    name_length: Whole = option(24, "characters of a player's name", ge=1, le=10_000_000)


@options("play")
class PlayOptions:
    """The server and its tables."""

    host: Text = option("127.0.0.1", "address to listen on; 0.0.0.0: reachable from other machines, needs `hosts`")
    port: Whole = option(8765, "port to listen on; 0: any free one", ge=0, le=65535)
    hosts: tuple[Text, ...] = option(
        (), "host names that browsers may use; empty: names of this machine, or any when host is not loopback"
    )
    secure: Flag = option(False, "true behind an HTTPS proxy: the session cookie is sent over HTTPS only")
    folder: Text = option("runs/play", "folder of the database and the secret")
    database: Text | None = option(
        None, "SQLAlchemy address, e.g. postgresql+psycopg://me@server/play; null: sqlite in `folder`"
    )
    secret: Text | None = option(None, "secret from which daily deals follow; null: a private file in `folder`")
    models: Text = option("models", "folder of trained policies to choose from")
    belief: Mapping[Text, Text] = option(
        {},
        "game: folder of a trained belief, e.g. {big2: models/big2_belief}; without: the champion's or uniform deals",
        factory=dict[str, str],
    )
    advisor: Text | None = option(
        None, "agent that advises and plays for par, e.g. champion or models/big2_ppo; null: the first on offer"
    )
    searches: Mapping[Text, Text] = option(
        {},
        "name: search that can be put around any agent",
        factory=lambda: {"monte_carlo": "monte_carlo:simulations:200", "tree": "tree:simulations:200"},
    )
    advice_deals: Whole = option(64, "games played out to estimate a win probability", ge=1, le=10_000)
    threads: Whole = option(4, "threads that ask agents", ge=1, le=64)
    slow_threads: Whole = option(2, "threads that search and advise", ge=1, le=64)
    warm: Flag = option(True, "compile games, advice and searches in a thread when the server starts")
    limits: Limits = option(Limits(), "limits of sessions and addresses", factory=Limits)

    def __post_init__(self) -> None:
        if self.secret is not None and len(self.secret) < 16:
            raise InvalidOption("play.secret", "…", "at least 16 characters, or left out")
