"""Kafka's checkpoint files: text with a version, a count and one line per entry, always replaced as a whole."""

from collections.abc import Iterable, Mapping
from typing import Final

from moldau.core.ids import TopicPartition

VERSION: Final = 0


class CheckpointError(ValueError):
    """A checkpoint that cannot be read. Its content can be recovered with more work."""


def checkpoint_text(lines: Iterable[str]) -> bytes:
    entries = list(lines)
    return "".join(f"{line}\n" for line in (VERSION, len(entries), *entries)).encode()


def checkpoint_lines(data: bytes, name: str) -> list[str]:
    try:
        version, count, *lines = data.decode().splitlines()
        expected = int(count)
        if int(version) != VERSION:
            raise CheckpointError(f"{name} has version {version}; only {VERSION} is supported")
    except (ValueError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{name} is malformed: {error}") from error
    if len(lines) != expected:
        raise CheckpointError(f"{name} should have {expected} entries but has {len(lines)}")
    return lines


def offsets_text(offsets: Mapping[TopicPartition, int]) -> bytes:
    return checkpoint_text(
        f"{topic} {partition} {offset}" for (topic, partition), offset in sorted(offsets.items())
    )


def parse_offsets(data: bytes, name: str) -> dict[TopicPartition, int]:
    offsets: dict[TopicPartition, int] = {}
    for line in checkpoint_lines(data, name):
        try:
            topic, partition, offset = line.split(" ")
            offsets[TopicPartition(topic, int(partition))] = int(offset)
        except ValueError:
            raise CheckpointError(f"malformed line {line!r} in {name}") from None
    return offsets
