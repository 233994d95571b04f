"""Which store a broker shares with the others of its cluster, if it is in one."""

from collections.abc import Callable

from moldau.coordination.store import Store
from moldau.core.settings.broker_keys import BrokerSettings


def zookeeper_store(settings: BrokerSettings) -> Callable[[], Store] | None:
    """Opens the store of `zookeeper.connect`; None without it. Blocks when called."""
    connect = settings.zookeeper_connect
    if not connect:
        return None

    def open_store() -> Store:
        from moldau.coordination.zookeeper import ZooKeeperStore

        return ZooKeeperStore(
            connect,
            session_timeout_ms=settings.zookeeper_session_timeout_ms,
            connection_timeout_ms=settings.zookeeper_connection_timeout_ms,
        )

    return open_store
