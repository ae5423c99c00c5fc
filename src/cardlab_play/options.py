"""Options of `cardlab play` (conf/play.yaml)."""

from collections.abc import Mapping
from ipaddress import ip_network

from cardlab.core.messages import InvalidOption
from cardlab.core.options import Flag, Number, Text, Whole, option, options
from cardlab.core.sockets import is_loopback

MAX_BODY_BYTES = 16_384
"""Bytes of a request."""


def invalid_play(key: str, value: object, allowed: str) -> InvalidOption:
    """The refusal of the option `key` of the server."""
    return InvalidOption(f"play.{key}", value, allowed)


@options("play.limits")
class Limits:
    """What one session, one address and all together may ask of the server."""

    tables_per_session: Whole = option(16, "open tables of one session", ge=1, le=10_000_000)
    tables: Whole = option(2000, "open tables of all sessions", ge=1, le=10_000_000)
    tables_per_address: Whole = option(100, "open tables of one address", ge=1, le=10_000_000)
    idle_hours: Number = option(
        72.0, "hours without a move after which a table is finished at random; its result counts", gt=0, le=8760
    )
    sessions_per_address: Whole = option(60, "new sessions per hour from one address", ge=1, le=10_000_000)
    connections_per_address: Whole = option(100, "connections from one address", ge=1, le=10_000_000)
    address_rate: Whole = option(100, "requests per second from one address", ge=1, le=10_000_000)


@options("play")
class PlayOptions:
    """The server and its tables."""

    host: Text = option("127.0.0.1", "address to listen on; any that is not loopback, such as 0.0.0.0, needs `hosts`")
    port: Whole = option(8765, "port to listen on; 0: any free one", ge=0, le=65535)
    hosts: tuple[Text, ...] = option(
        (), "names under which browsers may reach the server, beside those of loopback, e.g. [its.name]"
    )
    proxies: tuple[Text, ...] = option(
        (), "addresses of reverse proxies, whose X-Forwarded-For names the client, e.g. [127.0.0.1]"
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
        None, "agent that advises and plays for par, e.g. champion or models/big2_ppo/seed_7; null: the first on offer"
    )
    searches: Mapping[Text, Text] = option(
        {},
        "name: search that can be put around any agent",
        factory=lambda: {"monte_carlo": "monte_carlo:simulations:200", "tree": "tree:simulations:200"},
    )
    advice_deals: Whole = option(128, "sampled deals on which advice plays out every option", ge=2, le=10_000)
    threads: Whole = option(4, "threads that ask agents; half as many more search and advise", ge=1, le=64)
    warm: Flag = option(True, "compile games, advice and searches in a thread when the server starts")
    limits: Limits = option(Limits(), "limits of sessions and addresses", factory=Limits)

    def __post_init__(self) -> None:
        if not self.hosts and not is_loopback(self.host):
            allowed = (
                "a loopback address such as 127.0.0.1; to let other machines in, list the server's names: "
                "play.hosts=[its.name]"
            )
            raise invalid_play("host", self.host, allowed)
        for proxy in self.proxies:
            try:
                ip_network(proxy)
            except ValueError as error:
                raise invalid_play("proxies", proxy, "addresses or networks, e.g. [127.0.0.1]") from error
        if self.secret is not None and len(self.secret) < 16:
            raise invalid_play("secret", "…", "at least 16 characters, or left out")
