"""The configuration in force.

Owns the dynamic settings of brokers, groups and client metrics; those of a topic are part of its catalog
entry. A change is written to the store first, on a worker thread, and then takes effect here, on the owner's
thread. `config_admin` checks what may change.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Protocol

from moldau.broker.configs.config_records import read_all_configs, read_configs, write_configs
from moldau.broker.configs.log_settings import log_config_of
from moldau.broker.run_in_order import RunInOrder
from moldau.broker.topics.catalog import TopicCatalog
from moldau.coordination import tree_layout as layout
from moldau.coordination.store import Store
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, ConfigError, StorageFault
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.resolve import BrokerLayers, resolve_topic
from moldau.core.settings.topic_keys import TopicSettings
from moldau.storage.log_config import LogConfig

Texts = Mapping[str, str]


class ResourceType(IntEnum):
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigListener(Protocol):
    """Is notified of changed settings, on the owner's thread."""

    def topic_config_changed(self, topic: str, config: LogConfig) -> None: ...

    def broker_settings_changed(self, settings: BrokerSettings) -> None: ...


class ConfigStore:
    def __init__(
        self,
        store: Store,
        catalog: TopicCatalog,
        static: BrokerLayers,
        broker_id: int,
        run_in_order: RunInOrder,
        listener: ConfigListener,
    ) -> None:
        """Reads the store, so call it before anything is served."""
        self._store = store
        self._run_in_order = run_in_order
        self._listener = listener
        self.check_broker: Callable[[BrokerSettings], None] = lambda _: None
        """Called with changed settings of this broker before they are written, on the store's thread. It raises
        ConfigError for those that would not work, such as names of files that cannot be used."""
        self.catalog = catalog
        self.broker_id = broker_id
        self.layers = static._replace(
            dynamic_default=read_configs(store, layout.BROKER_CONFIGS, layout.ALL_BROKERS),
            dynamic=read_configs(store, layout.BROKER_CONFIGS, str(broker_id)),
        )
        self.broker = self.layers.settings()
        """The broker's settings. A change replaces the object, so read it each time and do not keep it."""
        self.groups = read_all_configs(store, layout.GROUP_CONFIGS)
        self.client_metrics = read_all_configs(store, layout.CLIENT_METRICS_CONFIGS)
        self._log_configs: dict[frozenset[tuple[str, str]], LogConfig] = {}

    def topic_settings(self, configs: Texts) -> TopicSettings:
        """The settings of a topic with these overrides."""
        return resolve_topic(self.broker, configs, checked=False)

    def log_config(self, configs: Texts) -> LogConfig:
        """The log configuration of a topic with these overrides. Topics with equal overrides share one
        object."""
        key = frozenset(configs.items())
        found = self._log_configs.get(key)
        if found is None:
            found = self._log_configs[key] = log_config_of(self.topic_settings(configs), self.broker)
        return found

    def check_new_topic(self, configs: Sequence[tuple[str, str | None]]) -> dict[str, str]:
        """The overrides of a new topic. ApiError when one is invalid."""
        texts: dict[str, str] = {}
        for name, value in configs:
            if value is None:
                raise ApiError(
                    ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {name}"
                )
            texts[name] = value
        try:
            resolve_topic(self.broker, texts)
        except ConfigError as error:
            raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from None
        return texts

    async def write(
        self, path: str, edit: Callable[[Texts], dict[str, str]], *, needs: str | None, validate_only: bool
    ) -> Texts:
        """Replaces the settings at `path` by the result of `edit`, which runs on the worker thread."""
        try:
            return await self._run_in_order(
                lambda: write_configs(self._store, path, edit, needs=needs, validate_only=validate_only)
            )
        except StorageFault as fault:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(fault)) from None

    def put_topic(self, name: str, texts: Texts) -> None:
        entry = self.catalog.find(name)
        if entry is not None:
            self.catalog.put(entry.with_configs(texts))
            self._listener.topic_config_changed(name, self.log_config(texts))

    def put_broker(self, layers: BrokerLayers) -> None:
        before = self.log_config({})
        self.layers = layers
        self.broker = layers.settings()
        self._log_configs.clear()
        self._listener.broker_settings_changed(self.broker)
        if self.log_config({}) != before:
            for entry in self.catalog.topics():
                self._listener.topic_config_changed(entry.name, self.log_config(entry.configs))

    def put_group(self, name: str, texts: Texts) -> None:
        _keep(self.groups, name, texts)

    def put_client_metrics(self, name: str, texts: Texts) -> None:
        _keep(self.client_metrics, name, texts)


def _keep(kept: dict[str, Texts], name: str, texts: Texts) -> None:
    if texts:
        kept[name] = texts
    else:
        kept.pop(name, None)
