"""This worker as a member of its group: the stores, the share of the work, and how both begin and end.

A standalone worker has no group: its stores are in memory, and all work is its own.
"""

import logging
import time
from typing import Any, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.data.client_errors import ClientErrors
from moldau.pipeline.connect.server.hosting.hosting import Hosting
from moldau.pipeline.connect.server.hosting.membership import Membership
from moldau.pipeline.connect.server.hosting.shares import Shares
from moldau.pipeline.connect.server.hosting.state_reports import StateReports
from moldau.pipeline.connect.server.loggers import LEVELS, Loggers
from moldau.pipeline.connect.server.settings import Configuration
from moldau.pipeline.connect.server.state.cluster_state import Change, ClusterState, Kind
from moldau.pipeline.connect.server.state.status_board import StatusBoard
from moldau.pipeline.connect.server.topics.config_log import ConfigLog, ConfigStore, LocalConfigs
from moldau.pipeline.connect.server.topics.internal_topics import (
    TopicNeed,
    prepare_topics,
    wait_for_brokers,
)
from moldau.pipeline.connect.server.topics.status_log import LocalStatuses, StatusLog, StatusStore

CONFIG_PREFIX: Final = "config.storage."
OFFSET_PREFIX: Final = "offset.storage."
STATUS_PREFIX: Final = "status.storage."

log = logging.getLogger("moldau.connect")


class Member:
    def __init__(self, configuration: Configuration, worker_id: str, *, is_standalone: bool = False) -> None:
        self.configuration = configuration
        self.settings = configuration.settings
        self.worker_id = worker_id
        self.is_standalone = is_standalone
        self.loggers = Loggers()
        self.store: ConfigStore = self._config_store()
        self.statuses: StatusStore = self._status_store()
        self.reports = StateReports(self.statuses, lambda: self.state, worker_id)
        self.hosting = Hosting(configuration, lambda: self.store, lambda: self.board, self.reports)
        self._membership: Membership | None = None
        self._cluster_id: str | None = None
        self._errors = ClientErrors()

    def start(self) -> None:
        """Raises ConfigError where the topics cannot be used."""
        deadline = time.monotonic() + self.settings.start_timeout_ms / 1000
        admin = self._admin()
        known = wait_for_brokers(admin, self._errors, self.configuration.bootstrap_servers, deadline)
        self._cluster_id = known.cluster_id
        prepare_topics(admin, self._topics(), known)
        try:
            for store in (self.store, self.statuses):
                if isinstance(store, ConfigLog | StatusLog):
                    store.open(deadline)
            self.hosting.start()
        except BaseException:
            self.store.close()
            self.statuses.close()
            raise
        if self.is_standalone:
            self.hosting.own(Shares.everything(), waits=False)
        else:
            self._membership = self._member()
            self._membership.start()

    def stop(self) -> None:
        """Ends the work of this worker, which others take over."""
        if self._membership is not None:
            self._membership.stop()
        self.hosting.stop()
        self.statuses.close()
        self.store.close()

    @property
    def state(self) -> ClusterState:
        return self.store.state

    @property
    def board(self) -> StatusBoard:
        return self.statuses.board

    @property
    def problem(self) -> str | None:
        """Why requests cannot be answered; None if all is well."""
        return self.store.problem or self.statuses.problem

    @property
    def has_joined(self) -> bool:
        """Whether the group has given this worker its share; other workers may have all of it."""
        return self._membership is None or self._membership.has_joined.is_set()

    @property
    def kafka_cluster_id(self) -> str | None:
        """As of the start; None before it."""
        return self._cluster_id

    def _admin(self) -> AdminClient:
        try:
            settings: dict[str, Any] = {**self.configuration.client, "error_cb": self._errors.note}
            return AdminClient({**settings, "log_level": 0})
        except KafkaException as failure:
            raise ConfigError(
                f"no client of Kafka can be made with the worker's settings: {failure.args[0].str()}. Correct it "
                "or leave it out: those that begin with security., sasl., ssl., client. and admin. are the clients'"
            ) from failure

    def _changed(self, change: Change) -> None:
        """The config topic says something new. Called by its reader: must not wait for it."""
        if change.kind is Kind.RESTART and change.restart is not None:
            self.hosting.restart(change.restart)
        elif change.kind is Kind.LOGGER:
            if change.level in LEVELS:
                self.loggers.set(change.name, change.level)
        else:
            self.hosting.wake()

    def _config_store(self) -> ConfigStore:
        if self.is_standalone:
            return LocalConfigs(self._changed)
        settings = self.settings
        return ConfigLog(
            self.configuration.client,
            settings.config_topic,
            settings.group_id,
            self._changed,
            timeout_s=settings.write_timeout_ms / 1000,
        )

    def _status_store(self) -> StatusStore:
        if self.is_standalone:
            return LocalStatuses()
        return StatusLog(self.configuration.client, self.settings.status_topic, self.settings.group_id)

    def _member(self) -> Membership:
        settings = self.settings
        return Membership(
            self.configuration.client,
            settings.offset_topic,
            settings.group_id,
            self.worker_id,
            session_timeout_ms=settings.session_timeout_ms,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
            on_shares=self.hosting.own,
        )

    def _topics(self) -> list[TopicNeed]:
        settings, configuration = self.settings, self.configuration
        offsets = TopicNeed(
            settings.offset_topic,
            settings.offset_partitions,
            settings.offset_replicas,
            "offset.storage.topic",
            configuration.topic_config(OFFSET_PREFIX),
        )
        if self.is_standalone:
            return [offsets]
        return [
            TopicNeed(
                settings.config_topic,
                1,
                settings.config_replicas,
                "config.storage.topic",
                configuration.topic_config(CONFIG_PREFIX),
                has_one_partition=True,
            ),
            offsets,
            TopicNeed(
                settings.status_topic,
                settings.status_partitions,
                settings.status_replicas,
                "status.storage.topic",
                configuration.topic_config(STATUS_PREFIX),
            ),
        ]
