"""Topic settings from Apache Kafka's own metadata log.

In a directory that Kafka wrote, the settings of topics are in `__cluster_metadata-0`: in the newest snapshot, and in
the log after it. Both are record batches. Read, never written.
"""

import re
from collections.abc import Iterator
from typing import Final

from moldau.core.ids import TopicId
from moldau.protocol.records.record import iter_records
from moldau.protocol.stored.cluster_metadata import (
    TOPIC_RESOURCE,
    ConfigRecord,
    MetadataRecord,
    RemoveTopicRecord,
    TopicRecord,
    decode_metadata_record,
)
from moldau.storage.disk import Disk
from moldau.storage.log.append_check import DECOMPRESSED_BYTES_MAX
from moldau.storage.names import LOG, METADATA_TOPIC, parse_segment_file
from moldau.storage.segments.batch_scan import iter_whole_batches

METADATA_DIRECTORY: Final = f"{METADATA_TOPIC}-0"
_KRAFT_SNAPSHOT: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


class TopicSettingsReplay:
    """Settings by topic, built by replaying the records."""

    def __init__(self) -> None:
        self.settings: dict[str, dict[str, str]] = {}
        self._names: dict[TopicId, str] = {}

    def replay(self, record: MetadataRecord) -> None:
        match record:
            case TopicRecord():
                self._names[record.topic_id] = record.name
            case RemoveTopicRecord():
                self.settings.pop(self._names.pop(record.topic_id, ""), None)
            case ConfigRecord(resource_type=resource_type) if resource_type == TOPIC_RESOURCE:
                of_topic = self.settings.setdefault(record.resource_name, {})
                if record.value is None:
                    of_topic.pop(record.name, None)
                else:
                    of_topic[record.name] = record.value


def read_topic_settings(disk: Disk, directory: str) -> dict[str, dict[str, str]]:
    """Returns the settings of each topic; none when Kafka has no metadata log. Raises PeerError if it cannot be
    parsed."""
    folder = f"{directory}/{METADATA_DIRECTORY}"
    state = TopicSettingsReplay()
    if disk.exists(folder):
        for record in _records(disk, folder):
            state.replay(record)
    return state.settings


def _records(disk: Disk, folder: str) -> Iterator[MetadataRecord]:
    sizes = dict(disk.entries(folder))
    snapshots = [found for name in sizes if (found := _KRAFT_SNAPSHOT.fullmatch(name))]
    start = 0
    if snapshots:
        newest = max(snapshots, key=lambda found: found[0])
        start = int(newest[1])
        yield from _records_of(disk, f"{folder}/{newest[0]}", sizes[newest[0]], 0)
    for name in sorted(sizes):
        segment = parse_segment_file(name)
        if segment is not None and segment.suffix == LOG:
            yield from _records_of(disk, f"{folder}/{name}", sizes[name], start)


def _records_of(disk: Disk, path: str, size: int, start: int) -> Iterator[MetadataRecord]:
    for header, batch in iter_whole_batches(disk.open(path, writable=False), 0, size):
        if header.is_control or header.last_offset < start:
            continue
        for stored in iter_records(batch, decompressed_bytes_max=DECOMPRESSED_BYTES_MAX):
            if stored.offset >= start and stored.value is not None:
                record = decode_metadata_record(stored.value)
                if record is not None:
                    yield record
