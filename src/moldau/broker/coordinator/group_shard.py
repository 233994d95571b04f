"""The shard of the group coordinator: the machine of `group/` on one partition, with its log and runner.

This module imports everything that groups need, so a broker without groups starts without that code.
"""

import logging
import uuid
from collections.abc import Awaitable
from typing import Any

from moldau.broker.configs.config_store import ConfigStore
from moldau.broker.coordinator.log import ShardLog, StoredMarker, StoredRecord
from moldau.broker.coordinator.router import client_facts
from moldau.broker.coordinator.runner import ShardRunner
from moldau.broker.group.call import GroupOutcome
from moldau.broker.group.consumer.config import consumer_settings
from moldau.broker.group.consumer.topic_view import TopicView
from moldau.broker.group.facts import GroupFact, OffsetCommitted, TransactionEnded, is_durable
from moldau.broker.group.history.explanations import GroupExplanation, OffsetExplanation
from moldau.broker.group.machine import GroupMachine
from moldau.broker.group.offsets.replies import WRITE_ERRORS
from moldau.broker.group.records import from_record, to_record
from moldau.broker.group.refusals import refused
from moldau.broker.group.settings import GroupSettings
from moldau.broker.request.client_session import Client
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, PeerError, StorageFault
from moldau.core.ids import Millis, ProducerId
from moldau.core.ports import Clock, Scheduler
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.protocol.spec import Request

_log = logging.getLogger("moldau.coordinator")


class GroupShard:
    """The groups of one partition."""

    def __init__(self, machine: GroupMachine, log: ShardLog, clock: Clock, scheduler: Scheduler) -> None:
        self._machine = machine
        self._log = log
        self._runner: ShardRunner[GroupFact] = ShardRunner(machine, _stored, log, clock, scheduler)

    def load(self) -> None:
        for stored in self._log.read():
            if isinstance(stored, StoredMarker):
                self._machine.replay(TransactionEnded(stored.producer_id, stored.is_commit))
                continue
            try:
                fact = from_record(stored.key, stored.value, stored.producer_id)
            except PeerError as error:
                _log.error("a group record cannot be decoded and is skipped: %s", error)
                continue
            if fact is not None:
                self._machine.replay(fact)

    def start(self) -> None:
        self._runner.insist(self._machine.decide_loaded)

    def stop(self) -> None:
        self._runner.close(self._machine.decide_unloaded())

    def explain(
        self, group_id: str, topic: str | None, partition: int
    ) -> GroupExplanation | OffsetExplanation:
        """Of the group, or of its offset in one partition."""
        if topic is None:
            return self._machine.explain_group(group_id)
        return self._machine.explain_offset(group_id, topic, partition)

    def ask(self, request: Request, version: int, client: Client) -> Any:
        """The reply, or an awaitable of it."""
        facts = client_facts(client)

        def decide(request_id: int, now_ms: Millis) -> GroupOutcome:
            new_id = str(uuid.uuid4())
            return self._machine.decide(request_id, request, version, facts, now_ms, new_id, client.sees)

        try:
            reply = self._runner.ask(decide)
        except ApiError as error:
            return refused(request, version, WRITE_ERRORS.get(error.code, error.code))
        except StorageFault as fault:
            _log.error("the state of a group could not be written: %s", fault)
            return refused(request, version, ErrorCode.NOT_COORDINATOR)
        return _settled(reply, request, version) if isinstance(reply, Awaitable) else reply

    def transaction_ended(self, producer_id: ProducerId, committed: bool) -> None:
        """The marker is in the log: pending offsets of the transaction are committed or dropped."""
        self._runner.tell(
            lambda now_ms: self._machine.decide_transaction_ended(producer_id, committed, now_ms)
        )

    def topics_changed(self) -> None:
        """Topics were created, deleted or given more partitions."""
        self._runner.insist(self._machine.decide_topics_changed)

    def forget_topics(self, topics: frozenset[str]) -> None:
        """Removes the offsets of deleted topics."""
        self._runner.insist(lambda now_ms: self._machine.decide_topics_deleted(topics, now_ms))


async def _settled(reply: Awaitable[Any], request: Request, version: int) -> Any:
    """The coordinator may move to another broker while a request waits."""
    try:
        return await reply
    except ApiError as error:
        return refused(request, version, error.code)


def new_groups(configs: ConfigStore, topics: TopicView) -> GroupMachine:
    return GroupMachine(
        _group_settings(configs.broker),
        topics,
        lambda group_id: consumer_settings(configs.broker, configs.groups.get(group_id, {})),
    )


def _group_settings(settings: BrokerSettings) -> GroupSettings:
    return GroupSettings(
        initial_rebalance_delay_ms=settings.group_initial_rebalance_delay_ms,
        session_timeout_min_ms=settings.group_min_session_timeout_ms,
        session_timeout_max_ms=settings.group_max_session_timeout_ms,
        group_size_max=settings.group_max_size,
        hides_topics=bool(settings.authorizer_class_name),
        offset_metadata_length_max=settings.offset_metadata_max_bytes,
        offsets_retention_ms=settings.offsets_retention_minutes * 60_000,
        offsets_retention_check_interval_ms=settings.offsets_retention_check_interval_ms,
    )


def _stored(fact: GroupFact) -> StoredRecord | None:
    if not is_durable(fact):
        return None
    key, value = to_record(fact)
    if isinstance(fact, OffsetCommitted):
        return StoredRecord(key, value, fact.producer_id, fact.producer_epoch)
    return StoredRecord(key, value)
