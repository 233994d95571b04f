"""Topic settings from Kafka's metadata log, starting at its newest snapshot."""

import pytest

from moldau.core.errors import PeerError
from moldau.core.ids import TopicId
from moldau.protocol.codec import encode
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record
from moldau.protocol.stored.cluster_metadata import (
    FRAMING,
    TOPIC_RESOURCE,
    ConfigRecord,
    MetadataRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from moldau.storage.directory.kraft_settings import read_topic_settings
from moldau.storage.segments.batch_scan import SCAN_SLICE_BYTES
from moldau.testing.simulation.crash_disk import CrashDisk

FOLDER = "/data/__cluster_metadata-0"
FIRST, SECOND = TopicId(b"\1" * 16), TopicId(b"\2" * 16)
BROKER_RESOURCE = 4
NO_OP = bytes([FRAMING, 20, 0, 0])


def framed(record: MetadataRecord) -> bytes:
    return bytes([FRAMING, record.RECORD_TYPE, 0]) + encode(record, 0)


def setting(topic: str, name: str, value: str | None) -> bytes:
    return framed(ConfigRecord(resource_type=TOPIC_RESOURCE, resource_name=topic, name=name, value=value))


def topic(name: str, topic_id: TopicId) -> bytes:
    return framed(TopicRecord(name=name, topic_id=topic_id))


def disk_with(**files: list[tuple[int, list[bytes]]]) -> CrashDisk:
    """Batches of values by file, each with its first offset; names without their first letter."""
    disk = CrashDisk()
    disk.make_directory(FOLDER)
    for name, batches in files.items():
        path = f"{FOLDER}/{name[1:].replace('_', '.').replace('x', '-')}"
        file = disk.open(path, create=True)
        for base_offset, values in batches:
            stored = [Record(base_offset + number, 0, None, value) for number, value in enumerate(values)]
            file.append(build_batch(stored, base_offset=base_offset))
    return disk


def test_a_directory_without_such_a_log_tells_nothing() -> None:
    disk = CrashDisk()
    disk.make_directory("/data")
    assert read_topic_settings(disk, "/data") == {}


def test_later_records_win_and_removed_settings_are_gone() -> None:
    values = [
        NO_OP,
        topic("orders", FIRST),
        setting("orders", "cleanup.policy", "delete"),
        setting("orders", "retention.ms", "1000"),
        setting("orders", "cleanup.policy", "compact"),
    ]
    broker_wide = framed(
        ConfigRecord(resource_type=BROKER_RESOURCE, resource_name="", name="retention.ms", value="7")
    )
    disk = disk_with(
        f00000000000000000000_log=[(0, values), (5, [broker_wide])],
        f00000000000000000006_log=[(6, [setting("orders", "retention.ms", None)])],
    )
    assert read_topic_settings(disk, "/data") == {"orders": {"cleanup.policy": "compact"}}


def test_a_new_topic_of_the_name_inherits_nothing() -> None:
    values = [
        topic("orders", FIRST),
        setting("orders", "retention.ms", "1"),
        framed(RemoveTopicRecord(topic_id=FIRST)),
        topic("orders", SECOND),
        setting("orders", "segment.ms", "2"),
    ]
    disk = disk_with(f00000000000000000000_log=[(0, values)])
    assert read_topic_settings(disk, "/data") == {"orders": {"segment.ms": "2"}}


def test_the_newest_snapshot_stands_for_what_is_before_it() -> None:
    disk = disk_with(
        f00000000000000000002x0000000001_checkpoint=[(0, [setting("old", "segment.ms", "1")])],
        f00000000000000000005x0000000003_checkpoint=[(0, [setting("orders", "segment.ms", "5")])],
        f00000000000000000009x0000000003_checkpoint_part=[(0, [setting("torn", "segment.ms", "9")])],
        f00000000000000000000_log=[
            (3, [setting("orders", "segment.ms", "3"), NO_OP]),
            (5, [setting("orders", "retention.ms", "6")]),
        ],
    )
    assert read_topic_settings(disk, "/data") == {"orders": {"segment.ms": "5", "retention.ms": "6"}}


def test_a_batch_longer_than_a_slice_is_read_whole() -> None:
    values = [setting("orders", "segment.ms", str(number)) for number in range(SCAN_SLICE_BYTES // 20)]
    assert sum(map(len, values)) > SCAN_SLICE_BYTES
    disk = disk_with(f00000000000000000000_log=[(0, values)])
    assert read_topic_settings(disk, "/data") == {"orders": {"segment.ms": str(len(values) - 1)}}


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (bytes([2, 4, 0]), "framing 2"),
        (bytes([FRAMING, 4]), "is too short"),
        (bytes([FRAMING, 4, 1]), "ConfigRecord v1 is not supported"),
        (bytes([FRAMING, 4, 0, 2]), "ConfigRecord v0 ends in the middle"),
    ],
)
def test_what_cannot_be_understood_is_told(value: bytes, why: str) -> None:
    disk = disk_with(f00000000000000000000_log=[(0, [value])])
    with pytest.raises(PeerError, match=why):
        read_topic_settings(disk, "/data")
