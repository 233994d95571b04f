"""All keys of a broker. Declared by subject in the modules beside; read as attributes of `BrokerSettings`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Self

from moldau.core.settings.broker_keys.group import GroupCoordinatorKeys
from moldau.core.settings.broker_keys.identity import IdentityKeys
from moldau.core.settings.broker_keys.kraft import KraftKeys
from moldau.core.settings.broker_keys.log import LogKeys
from moldau.core.settings.broker_keys.metrics import MetricsKeys
from moldau.core.settings.broker_keys.network import NetworkKeys
from moldau.core.settings.broker_keys.replication import ReplicationKeys
from moldau.core.settings.broker_keys.retired import RetiredKeys
from moldau.core.settings.broker_keys.security import SecurityKeys
from moldau.core.settings.broker_keys.tiered import TieredStorageKeys
from moldau.core.settings.broker_keys.tls import TlsKeys
from moldau.core.settings.broker_keys.transaction import TransactionKeys
from moldau.core.settings.broker_keys.zookeeper import ZooKeeperKeys

NO_OVERRIDES: Final[Mapping[str, Any]] = MappingProxyType({})


class BrokerSettings(
    IdentityKeys,
    NetworkKeys,
    LogKeys,
    ReplicationKeys,
    GroupCoordinatorKeys,
    TransactionKeys,
    SecurityKeys,
    TlsKeys,
    TieredStorageKeys,
    MetricsKeys,
    KraftKeys,
    ZooKeeperKeys,
    RetiredKeys,
):
    """The settings of one broker, as they are in force at one moment."""

    KIND = "broker"
    listener_overrides: Mapping[str, Any] = NO_OVERRIDES
    """Values for single listeners. Read them with `listener_keys.listener_setting`."""

    def with_overrides(self, overrides: Mapping[str, Any]) -> Self:
        """These settings with values for single listeners."""
        changed = type(self)({name: self.value_of(name) for name in self.KEYS})
        vars(changed)["listener_overrides"] = dict(overrides)
        return changed

    @property
    def data_directories(self) -> tuple[str, ...]:
        return self.log_dirs or self.log_dir
