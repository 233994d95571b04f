"""All keys of a broker. Declared by subject in the modules beside; read as attributes of `BrokerSettings`."""

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
from moldau.core.settings.broker_keys.transaction import TransactionKeys


class BrokerSettings(
    IdentityKeys,
    NetworkKeys,
    LogKeys,
    ReplicationKeys,
    GroupCoordinatorKeys,
    TransactionKeys,
    SecurityKeys,
    TieredStorageKeys,
    MetricsKeys,
    KraftKeys,
    RetiredKeys,
):
    """The settings of one broker, as they are in force at one moment."""

    KIND = "broker"

    @property
    def data_directories(self) -> tuple[str, ...]:
        return self.log_dirs or self.log_dir
