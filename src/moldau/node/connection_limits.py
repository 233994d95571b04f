"""How many connections a broker accepts, and how quickly: from its settings and from the quotas of addresses.

The limits of a listener are those of its own settings. Rates are measured as Kafka measures them (KIP-612): the average
over the samples of `quota.window.num`.
"""

import socket
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from moldau.coordination.security.entity_nodes import ADDRESS, EntityPart
from moldau.coordination.security.security_tree import SecurityTree
from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.key import INT_MAX
from moldau.core.settings.listener_keys import listener_setting
from moldau.core.settings.listeners import broker_listeners
from moldau.net.listener import ConnectionLimits
from moldau.security.quotas.quota_keys import CONNECTION, quota_values
from moldau.security.quotas.usage import Rate, Windows

ADDRESSES_MAX: Final = 10_000
"""Rates of so many addresses are kept."""


class BrokerConnectionLimits:
    """Implements `net.listener.AcceptRates`."""

    def __init__(
        self, settings: Callable[[], BrokerSettings], security: SecurityTree, now_ms: Callable[[], int]
    ) -> None:
        self._settings = settings
        self._security = security
        self._now_ms = now_ms
        self._made_of: BrokerSettings | None = None
        self._limits: ConnectionLimits
        first = settings()
        self._windows = Windows(first.quota_window_num, first.quota_window_size_seconds * 1000)
        self._of_broker = Rate(self._windows)
        self._of_listener: dict[str, Rate] = {}
        self._of_address: dict[str, Rate] = {}

    def current(self) -> ConnectionLimits:
        settings = self._settings()
        if settings is not self._made_of:
            self._limits = _limits(settings)
            self._made_of = settings
        return self._limits

    def listener_wait_ms(self, listener: str) -> int:
        """Counts a new connection. How long the listener must wait before it accepts the next."""
        settings = self._settings()
        of_listener = int(listener_setting(settings, listener, "max.connection.creation.rate"))
        of_broker = settings.max_connection_creation_rate
        if of_listener == INT_MAX and of_broker == INT_MAX:
            return 0
        now_ms = self._now_ms()
        wait_ms = 0
        for limit, rate in (
            (of_broker, self._of_broker),
            (of_listener, self._of_listener.setdefault(listener, Rate(self._windows))),
        ):
            rate.record(1, now_ms)
            if limit != INT_MAX:
                wait_ms = max(wait_ms, rate.throttle_ms(limit, now_ms))
        return wait_ms

    def address_wait_ms(self, ip: str) -> int:
        """Counts a new connection of the address, unless there are too many: then how long to keep it waiting before
        it is closed."""
        limit = self._address_limit(ip)
        if limit is None:
            return 0
        now_ms = self._now_ms()
        rate = self._of_address.pop(ip, None) or Rate(self._windows)
        self._of_address[ip] = rate
        if len(self._of_address) > ADDRESSES_MAX:
            del self._of_address[next(iter(self._of_address))]
        rate.record(1, now_ms)
        wait_ms = rate.throttle_ms(limit, now_ms)
        if wait_ms:
            rate.record(-1, now_ms)
        return wait_ms

    def _address_limit(self, ip: str) -> float | None:
        entities = self._security.entities
        for name in (ip, None):
            texts = entities.get((EntityPart(ADDRESS, name),))
            if texts:
                found = quota_values(texts).get(CONNECTION)
                if found is not None:
                    return found
        return None


def check_overrides(settings: BrokerSettings) -> None:
    """ConfigError for wrong `max.connections.per.ip.overrides`. Blocks where it has names of hosts."""
    parse_overrides(settings.max_connections_per_ip_overrides)


@lru_cache(maxsize=16)
def parse_overrides(text: str) -> Mapping[str, int]:
    """The limits by IP address."""
    limits: dict[str, int] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        host, _, count = pair.rpartition(":")
        host = host.strip().removeprefix("[").removesuffix("]")
        if not host or not count.strip().isdecimal():
            raise ConfigError(
                f"max.connections.per.ip.overrides: {pair!r} is not of the form host:count, for example 10.0.0.7:100"
            )
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except OSError as error:
            raise ConfigError(
                f"max.connections.per.ip.overrides: the host {host} has no address: {error.strerror}; name its IP "
                "address"
            ) from None
        limits |= {str(address[0]): int(count) for *_, address in found}
    return limits


def _limits(settings: BrokerSettings) -> ConnectionLimits:
    name = "max.connections"
    return ConnectionLimits(
        request_bytes_max=settings.socket_request_max_bytes,
        idle_ms_max=settings.connections_max_idle_ms,
        connections_max=settings.max_connections,
        connections_per_ip_max=settings.max_connections_per_ip,
        handshake_ms_max=settings.socket_connection_setup_timeout_ms,
        connections_max_of={
            listener.name: int(listener_setting(settings, listener.name, name))
            for listener in broker_listeners(settings)
        },
        connections_max_from=parse_overrides(settings.max_connections_per_ip_overrides),
    )
