"""The keys and certificates of this broker's listeners: loaded at the start, taken over again when they change."""

import asyncio
import logging
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from moldau.broker.broker import Broker
from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listeners import Listener

if TYPE_CHECKING:
    from moldau.security.tls.listener_tls import ListenerTls

_log = logging.getLogger("moldau.tls")

REFRESH_S: Final = 1.0
"""How often files and settings are looked at."""
WARN_BEFORE: Final = timedelta(days=30)
WARN_EVERY_S: Final = 24 * 60 * 60


class TlsIdentities:
    def __init__(self, listeners: Iterable[Listener]) -> None:
        self._names = [listener.name for listener in listeners if listener.protocol.has_tls]
        self.by_listener: dict[str, ListenerTls] = {}
        self._warned_at = 0.0

    def load(self, settings: BrokerSettings) -> None:
        """Blocks. ConfigError names the listener and what is wrong."""
        if not self._names:
            return
        from moldau.security.tls.listener_tls import ListenerTls  # A broker without TLS does not load it.

        for name in self._names:
            self.by_listener[name] = ListenerTls(name, settings)

    def check(self, settings: BrokerSettings) -> None:
        """Blocks. ConfigError if changed settings name keys or certificates that cannot be used."""
        for tls in self.by_listener.values():
            tls.check(settings)

    def start(self, broker: Broker) -> None:
        if not self._names:
            return
        check_others = broker.configs.check_broker

        def check(settings: BrokerSettings) -> None:
            check_others(settings)
            self.check(settings)

        broker.configs.check_broker = check
        broker.scheduler.spawn(self._keep_current(broker))

    async def _keep_current(self, broker: Broker) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._warn_of_expiry(loop.time())
            await asyncio.sleep(REFRESH_S)
            await broker.scheduler.run_in_worker(lambda: self._refresh(broker.configs.broker))

    def _refresh(self, settings: BrokerSettings) -> None:
        for name, tls in self.by_listener.items():
            try:
                if tls.refresh(settings):
                    until = tls.expires_at.isoformat(sep=" ", timespec="minutes")
                    _log.info(
                        "listener %s: new connections get the new certificate of %s, valid until %s",
                        name,
                        tls.subject,
                        until,
                    )
            except ConfigError as error:
                _log.error("listener %s: the changed keys or settings are not taken over: %s", name, error)

    def _warn_of_expiry(self, now: float) -> None:
        if self._warned_at and now - self._warned_at < WARN_EVERY_S:
            return
        self._warned_at = now
        today = datetime.now(UTC)
        for name, tls in self.by_listener.items():
            left = tls.expires_at - today
            if left < WARN_BEFORE:
                what = f"expires in {left.days} days" if left > timedelta(0) else "has expired"
                _log.warning(
                    "listener %s: the certificate of %s %s, at %s; replace the file, it is taken over at once",
                    name,
                    tls.subject,
                    what,
                    tls.expires_at.isoformat(sep=" ", timespec="minutes"),
                )
