"""What clients of a cluster were promised and what they saw, and everything that is wrong with it.

Every record says who wrote it and as which of its records to that partition, so a log shows by itself what is
missing, doubled or out of order.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

Place = tuple[str, int]


class Seen(NamedTuple):
    offset: int
    value: bytes


@dataclass
class History:
    """Filled by many threads while the cluster is being hurt."""

    acknowledged: dict[Place, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    reads: dict[tuple[str, Place], list[Seen]] = field(default_factory=lambda: defaultdict(list))
    """By reader and partition, in the order in which they came."""
    transactions: dict[bytes, str] = field(default_factory=dict)
    """Each one's fate: committed, aborted, or unknown."""
    failures: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def acknowledge(self, place: Place, value: bytes) -> None:
        with self.lock:
            self.acknowledged[place].add(value)

    def see(self, reader: str, place: Place, offset: int, value: bytes) -> None:
        with self.lock:
            self.reads[reader, place].append(Seen(offset, value))

    @property
    def acknowledged_count(self) -> int:
        with self.lock:
            return sum(map(len, self.acknowledged.values()))


def record(writer: str, number: int, transaction: str = "", size: int = 0) -> bytes:
    """`size` is the number of records of its transaction."""
    return f"{writer}|{number}|{transaction}|{size}".encode()


def writer_and_number(value: bytes) -> tuple[str, int]:
    writer, number, _ = value.split(b"|", 2)
    return writer.decode(), int(number)


def transaction_of(value: bytes) -> tuple[bytes, int]:
    _, _, transaction, size = value.split(b"|")
    return transaction, int(size)


def find_problems(
    history: History, log: Mapping[Place, Sequence[Seen]], committed: Mapping[Place, Sequence[Seen]]
) -> dict[str, list[str]]:
    """`log` is all that is there in the end, `committed` what a reader of committed records is shown of it."""
    problems: dict[str, list[str]] = defaultdict(list)
    for place, wanted in history.acknowledged.items():
        _check_presence(place, wanted, log.get(place, ()), problems)
    for place, seen in log.items():
        _check_order(place, seen, problems)
    for (reader, place), seen in history.reads.items():
        whole = committed if reader.startswith("committed") else log
        _check_reader(reader, place, seen, whole.get(place, ()), problems)
    _check_transactions(history, committed, problems)
    return dict(problems)


def _check_presence(
    place: Place, wanted: set[bytes], seen: Sequence[Seen], problems: dict[str, list[str]]
) -> None:
    there = {each.value for each in seen}
    problems_of = [f"{place}: {value!r} was acknowledged" for value in sorted(wanted - there)]
    if problems_of:
        problems["lost"] += problems_of


def _check_order(place: Place, seen: Sequence[Seen], problems: dict[str, list[str]]) -> None:
    last: dict[str, int] = {}
    values: set[bytes] = set()
    for offset, value in seen:
        writer, number = writer_and_number(value)
        if value in values:
            problems["duplicated"].append(f"{place}@{offset}: {value!r} came before")
        elif number < last.get(writer, -1):
            problems["reordered"].append(f"{place}@{offset}: {value!r} after number {last[writer]}")
        values.add(value)
        last[writer] = max(number, last.get(writer, -1))


def _check_reader(
    reader: str,
    place: Place,
    seen: Sequence[Seen],
    whole: Iterable[Seen],
    problems: dict[str, list[str]],
) -> None:
    final = {each.offset: each.value for each in whole}
    position = -1
    for offset, value in seen:
        if offset <= position:
            problems["non-monotonic"].append(f"{reader} {place}: offset {offset} after {position}")
        if final.get(offset) != value:
            problems["non-monotonic"].append(
                f"{reader} {place}@{offset}: {value!r} was read, {final.get(offset)!r} is there"
            )
        position = max(position, offset)
    shown = {each.offset for each in seen}
    problems_of = [
        f"{reader} {place}@{offset}" for offset in final if offset <= position and offset not in shown
    ]
    if problems_of:
        problems["unseen"] += problems_of


def _check_transactions(
    history: History, committed: Mapping[Place, Sequence[Seen]], problems: dict[str, list[str]]
) -> None:
    visible: dict[bytes, int] = defaultdict(int)
    sizes: dict[bytes, int] = {}
    for seen in committed.values():
        for _, value in seen:
            transaction, size = transaction_of(value)
            if transaction:
                visible[transaction] += 1
                sizes[transaction] = size
    for transaction, fate in history.transactions.items():
        if fate == "aborted" and visible[transaction]:
            problems["aborted"].append(f"{transaction!r} was aborted, and is read")
        elif fate == "committed" and not visible[transaction]:
            problems["lost"].append(f"{transaction!r} was committed, and is not read")
        elif visible[transaction] not in (0, sizes.get(transaction, 0)):
            problems["torn"].append(
                f"{transaction!r}: {visible[transaction]} of {sizes[transaction]} records"
            )
