"""Limits of connections that uvicorn lacks: the time in which a request arrives, and connections of one address."""

import asyncio
from ipaddress import ip_address, ip_network

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cardlab_play.options import PlayOptions

REQUEST_SECONDS = 10.0  # from the first byte of a request to its last


def make_protocol(options: PlayOptions) -> type[asyncio.Protocol]:
    """Uvicorn's HTTP/1.1 protocol with limits. A connection beyond them is closed without a response."""
    proxies = [ip_network(proxy) for proxy in options.proxies]

    class LimitedProtocol(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            super().connection_made(transport)
            if self._is_one_too_many():
                transport.close()
            else:
                self._timer = self.loop.call_later(REQUEST_SECONDS, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):  # the request is complete
                self._stop_timer()
            elif self._timer is None:
                self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _is_one_too_many(self) -> bool:
            host = self.client[0] if self.client else ""
            if any(ip_address(host) in proxy for proxy in proxies):
                return False
            hosts = [one.client[0] for one in self.connections if isinstance(one, H11Protocol) and one.client]
            return hosts.count(host) > options.limits.connections_per_address

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return LimitedProtocol
