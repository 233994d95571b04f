"""Files that an interrupted deletion, compaction or replacement leaves in a log directory, and what to do with them.

As Kafka does: a finished compaction is completed, an unfinished one is rolled back.
"""

import logging
from typing import Final

from moldau.storage.disk import Disk
from moldau.storage.names import (
    CLEANED,
    DELETED,
    LOG,
    SNAPSHOT,
    SWAP,
    TEMPORARY,
    SegmentFile,
    parse_segment_file,
)
from moldau.storage.segments.batch_scan import iter_headers

_log: Final = logging.getLogger("moldau.recovery")


def finish_interrupted_work(disk: Disk, directory: str) -> dict[str, int]:
    """Returns the name and size of every file that is left in the directory."""
    sizes = dict(disk.entries(directory))
    marked = [name for name in sizes if name.endswith((DELETED, CLEANED, SWAP, TEMPORARY))]
    if not marked:
        return sizes
    cleaned = [file.offset for name in marked if (file := _marked(name, CLEANED))]
    swaps = {name: file for name in marked if (file := _marked(name, SWAP))}
    for name in marked:
        # Compaction renames its results from the last to the first: below a `.cleaned` file, no swap is complete.
        is_incomplete = name in swaps and bool(cleaned) and swaps[name].offset >= min(cleaned)
        if name not in swaps or is_incomplete:
            _log.info("%s: removing %s, left by an interrupted operation", directory, name)
            disk.remove(f"{directory}/{name}")
            del sizes[name]
            swaps.pop(name, None)
    if swaps:
        _carry_through(disk, directory, sizes, swaps)
    return sizes


def _marked(name: str, suffix: str) -> SegmentFile | None:
    return parse_segment_file(name.removesuffix(suffix)) if name.endswith(suffix) else None


def _carry_through(disk: Disk, directory: str, sizes: dict[str, int], swaps: dict[str, SegmentFile]) -> None:
    """The compacted segments are complete: they replace the segments they were made from."""
    logs = {name: file for name, file in swaps.items() if file.suffix == LOG}
    first = min((file.offset for file in logs.values()), default=0)
    end = 0
    for name, file in logs.items():
        end = max(end, file.offset)
        for _, header in iter_headers(disk.open(f"{directory}/{name}"), 0, sizes[name]):
            end = max(end, header.next_offset)
    for name in list(sizes):
        replaced = parse_segment_file(name)
        if replaced is not None and replaced.suffix != SNAPSHOT and first <= replaced.offset < end:
            _log.info("%s: removing %s, which was compacted", directory, name)
            disk.remove(f"{directory}/{name}")
            del sizes[name]
    for name in swaps:
        _log.info("%s: completing the replacement with %s", directory, name)
        disk.rename(f"{directory}/{name}", f"{directory}/{name.removesuffix(SWAP)}")
        sizes[name.removesuffix(SWAP)] = sizes.pop(name)
