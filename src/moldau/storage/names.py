"""The names of a log's files and directories, made and parsed. See FORMAT.md."""

import re
import secrets
from typing import Final, NamedTuple

from moldau.core.ids import TopicPartition

LOG: Final = ".log"
INDEX: Final = ".index"
TIME_INDEX: Final = ".timeindex"
TXN_INDEX: Final = ".txnindex"
SNAPSHOT: Final = ".snapshot"
SEGMENT_SUFFIXES: Final = (LOG, INDEX, TIME_INDEX, TXN_INDEX)

DELETED: Final = ".deleted"
CLEANED: Final = ".cleaned"
SWAP: Final = ".swap"
TEMPORARY: Final = ".tmp"

PARTITION_METADATA: Final = "partition.metadata"
LEADER_EPOCHS: Final = "leader-epoch-checkpoint"
RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
START_OFFSETS: Final = "log-start-offset-checkpoint"
HIGH_WATERMARKS: Final = "replication-offset-checkpoint"
CLEANER_OFFSETS: Final = "cleaner-offset-checkpoint"
META_PROPERTIES: Final = "meta.properties"
CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"
LOCK: Final = ".lock"
METADATA_TOPIC: Final = "__cluster_metadata"
"""KRaft's own log. In Kafka's directories it lies among the topics, but it is not one."""

DIRECTORY_NAME_MAX: Final = 255

_SEGMENT_FILE: Final = re.compile(r"(\d{20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)")
_PARTITION: Final = re.compile(r"(.+)-(\d{1,10})")
_MARKED: Final = re.compile(r"(.+)-(\d{1,10})\.[0-9a-f]{32}-(delete|future|stray)")


class SegmentFile(NamedTuple):
    offset: int
    suffix: str


def segment_file(offset: int, suffix: str) -> str:
    return f"{offset:020d}{suffix}"


def parse_segment_file(name: str) -> SegmentFile | None:
    """Accepts only names that `segment_file` makes; any other file in the directory is not Moldau's."""
    found = _SEGMENT_FILE.fullmatch(name)
    return SegmentFile(int(found[1]), found[2]) if found else None


def parse_partition_directory(name: str) -> TopicPartition | None:
    found = _PARTITION.fullmatch(name)
    return TopicPartition(found[1], int(found[2])) if found else None


def is_marked_for_deletion(name: str) -> bool:
    found = _MARKED.fullmatch(name)
    return found is not None and found[3] == "delete"


def deletion_directory(topic_partition: TopicPartition) -> str:
    """As in Kafka: `topic-partition.<32 hex digits>-delete`, with the topic cut when the name would be too long."""
    return _renamed_directory(topic_partition, "delete")


def stray_directory(topic_partition: TopicPartition) -> str:
    """As in Kafka: `topic-partition.<32 hex digits>-stray`. The broker never opens it; an operator decides."""
    return _renamed_directory(topic_partition, "stray")


def _renamed_directory(topic_partition: TopicPartition, ending: str) -> str:
    tail = f"-{topic_partition.partition}.{secrets.token_hex(16)}-{ending}"
    return topic_partition.topic[: DIRECTORY_NAME_MAX - len(tail)] + tail
