"""What lies on disk: the batches of a partition, read from its `.log` files as they are."""

from pathlib import Path

from moldau.protocol.records.batch import BatchHeader, crc_matches, iter_headers


def segment_files(partition_dir: Path, suffix: str = ".log") -> list[Path]:
    return sorted(partition_dir.glob(f"*{suffix}"))


def stored_batches(partition_dir: Path) -> list[BatchHeader]:
    """Every batch in offset order; each one's CRC is checked on the way."""
    batches: list[BatchHeader] = []
    for path in segment_files(partition_dir):
        content = path.read_bytes()
        for position, header in iter_headers(content):
            assert crc_matches(memoryview(content), position, header.size), f"{path.name} at {position}"
            batches.append(header)
    return batches
