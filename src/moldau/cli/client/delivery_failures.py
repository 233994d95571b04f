"""Explains delivery errors of the producer.

librdkafka retries retriable errors and finally reports only a timeout. Its debug log contains what the broker
answered.
"""

import logging
import re
from collections.abc import Mapping, Sequence

from confluent_kafka import KafkaError, Message

from moldau.cli.client.cluster_queries import Partition, picture
from moldau.cli.client.config_queries import Resource, describe
from moldau.cli.client.connection import Cluster
from moldau.cli.failures import Failure, refused
from moldau.core.error_codes import ErrorCode

_REFUSAL = re.compile(r"MessageSet with .* encountered error: (?P<words>.+) \(actions ")
_CODES = {KafkaError(code).str(): int(code) for code in ErrorCode}
_TOO_FEW = {KafkaError.NOT_ENOUGH_REPLICAS, KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND}
MIN_ISR = "min.insync.replicas"
KEYS_HINT = "Pass --key KEY, or --key-separator TEXT if lines contain key and value."


class BrokerRefusals(logging.Handler):
    """Extracts the last error that a broker answered to a produce request from the client's log."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.last: KafkaError | None = None

    def emit(self, record: logging.LogRecord) -> None:
        found = _REFUSAL.search(record.getMessage())
        if found is not None and found["words"] in _CODES:
            self.last = KafkaError(_CODES[found["words"]])

    def client_settings(self) -> Mapping[str, object]:
        """The settings of the producer to observe."""
        logger = logging.Logger("moldau.cli.producer", logging.DEBUG)
        logger.addHandler(self)
        return {"logger": logger, "log_level": 7, "debug": "msg"}


def delivery_failure(
    cluster: Cluster, topic: str, error: KafkaError, lost: Message | None, said: KafkaError | None
) -> Failure:
    """`lost` is the first record that was not written, `said` the last error answered by a broker."""
    doing = f"write to topic '{topic}'"
    if error.code() == KafkaError.INVALID_RECORD and lost is not None and lost.key() is None:
        policy = _setting(cluster, topic, "cleanup.policy")
        if "compact" in policy:
            message = f"cannot {doing}: the record has no key, and the topic is compacted (cleanup.policy={policy})."
            return Failure(message, KEYS_HINT, error.code())
    if error.code() != KafkaError._MSG_TIMED_OUT and error.code() not in _TOO_FEW:
        return cluster.failure(error, doing)
    try:
        part = _partition(cluster, topic, lost)
    except Failure:
        # No broker can be asked, which is itself the reason.
        return cluster.failure(error, doing)
    if part is not None and part.leader is None:
        return _leaderless(doing, part)
    cause = said if error.code() == KafkaError._MSG_TIMED_OUT else error
    least = _setting(cluster, topic, MIN_ISR)
    if cause is None and part is not None and len(part.isr) < int(least or 0):
        cause = KafkaError(KafkaError.NOT_ENOUGH_REPLICAS)
    if cause is None:
        return cluster.failure(error, doing)
    if cause.code() in _TOO_FEW and part is not None:
        return _too_few(doing, part, least, cause)
    told = refused(cause, doing)
    return Failure(f"{told.message} It was retried for {cluster.timeout_s:g} s.", told.hint, cause.code())


def _partition(cluster: Cluster, topic: str, lost: Message | None) -> Partition | None:
    parts = picture(cluster, [topic]).partitions
    number = lost.partition() if lost is not None else None
    leaderless = next((part for part in parts if part.leader is None), None)
    return next((part for part in parts if part.place.partition == number), leaderless)


def _leaderless(doing: str, part: Partition) -> Failure:
    waited_for = _brokers(part.isr or part.replicas)
    return Failure(
        f"cannot {doing}: partition {part.place.partition} has no leader: none of its in-sync replicas is online.",
        f"Start {waited_for} again. `moldau topics describe --unavailable` lists such partitions; "
        f"`moldau partitions elect {part.place.topic}:{part.place.partition} --type unclean` "
        "elects another replica, which loses records.",
        KafkaError.LEADER_NOT_AVAILABLE,
    )


def _too_few(doing: str, part: Partition, least: str, cause: KafkaError) -> Failure:
    missing = [broker_id for broker_id in part.replicas if broker_id not in part.isr]
    bring = f"Start {_brokers(missing)} again" if missing else "Add replicas"
    return Failure(
        f"cannot {doing}: partition {part.place.partition} has {len(part.isr)} of {len(part.replicas)} replicas in "
        f"sync, and {MIN_ISR} is {least}. The broker reports: {cause.str().removeprefix('Broker: ')}.",
        f"{bring}, or lower {MIN_ISR}: `moldau topics alter {part.place.topic} --set {MIN_ISR}=...`. "
        "--acks 1 writes to the leader alone.",
        cause.code(),
    )


def _brokers(broker_ids: Sequence[int]) -> str:
    names = ", ".join(map(str, broker_ids))
    return f"broker {names}" if len(broker_ids) == 1 else f"one of the brokers {names}"


def _setting(cluster: Cluster, topic: str, name: str) -> str:
    try:
        [settings] = describe(cluster, [Resource("topic", topic)]).values()
    except Failure:
        return ""
    return next((setting.value or "" for setting in settings if setting.name == name), "")
