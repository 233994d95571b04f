"""The versioned store: the current value of each key, and earlier versions as far back as its history goes.

A version is valid from its timestamp until that of the next. A removal is a version, too. A late version is inserted at
its time and does not change the current value. The current value of a key never expires. As in Kafka's versioned stores
(KIP-889).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from enum import Enum
from operator import itemgetter

from moldau.pipeline.operators.stores.expiry import Expiry
from moldau.pipeline.operators.stores.key_value import KeyValueStore, Timed
from moldau.pipeline.operators.stores.keys import split_window_key, window_key
from moldau.pipeline.operators.stores.store import Change, Item

Version = tuple[int, bytes | None]
"""Since when, and the value; None: removed."""

_since = itemgetter(0)
_REMOVED, _PRESENT = b"\x00", b"\x01"


class Placed(Enum):
    """What happened to a version."""

    LATEST = "it is the present value"
    BEFORE = "it came late, and is history"
    NOWHERE = "it is older than the history goes"


class VersionedStore(KeyValueStore):
    def __init__(self, name: str, history_ms: int) -> None:
        super().__init__(name)
        # One more than the history: the version at its very edge must still exist.
        self._expiry = Expiry(history_ms + 1)
        self._versions: dict[bytes, list[Version]] = {}

    def put(self, key: bytes, value: bytes | None, timestamp_ms: int) -> None:
        self.put_version(key, value, timestamp_ms)

    def put_version(self, key: bytes, value: bytes | None, since_ms: int) -> Placed:
        """A value None: the key was removed at that time."""
        if self._expiry.observe(since_ms):
            self._drop_expired()
        elif since_ms < self._expiry.oldest_ms:
            return Placed.NOWHERE
        self._note_before(key, since_ms)
        self._insert(key, since_ms, value)
        if self._versions[key][-1][0] != since_ms:
            return Placed.BEFORE
        if value is None:
            self._values.pop(key, None)
        else:
            self._values[key] = (value, since_ms)
        self._sorted = None
        return Placed.LATEST

    def get_as_of(self, key: bytes, as_of_ms: int) -> Timed | None:
        """The value at a time, and since when it was valid. None if there was none or the history ends after that."""
        present = self._values.get(key)
        if present is not None and present[1] <= as_of_ms:
            return present
        if as_of_ms < self._expiry.oldest_ms:
            return None
        versions = self._versions.get(key, [])
        at = bisect_right(versions, as_of_ms, key=_since) - 1
        if at < 0:
            return None
        since_ms, value = versions[at]
        return None if value is None else (value, since_ms)

    def versions(self, key: bytes) -> list[Version]:
        """All versions of a key, oldest first."""
        return list(self._versions.get(key, ()))

    def trim(self, key: bytes, history_ms: int) -> None:
        """Drops versions that ended longer before the key's current one than the history."""
        versions = self._versions.get(key, [])
        while len(versions) > 1 and versions[1][0] <= versions[-1][0] - history_ms:
            self._remove(key, versions[0][0])

    def items(self) -> Iterator[Item]:
        for key, versions in self._versions.items():
            for since_ms, value in versions:
                yield window_key(key, since_ms), _packed(value)

    def take_changes(self) -> list[Change]:
        touched = sorted(self._take_touched())
        return [(window_key(key, since_ms), self._stored(key, since_ms)) for key, since_ms in touched]

    def _packed(self, place: tuple[bytes, int], held: bytes | None) -> Change:  # type: ignore[override]
        return window_key(*place), held

    def _mark(self) -> tuple[int, ...]:
        return self._expiry.mark()

    def _put_back(self, mark: tuple[int, ...]) -> None:
        self._expiry.put_back(mark)

    def load(self, changes: Iterable[Change]) -> None:
        for place, stored in changes:
            key, since_ms, _ = split_window_key(place)
            if stored is None:
                self._remove(key, since_ms)
            else:
                self._insert(key, since_ms, _unpacked(stored))
                self._expiry.observe(since_ms)
            since_ms, value = self._versions.get(key, [(0, None)])[-1]
            if value is None:
                self._values.pop(key, None)
            else:
                self._values[key] = (value, since_ms)
        self._sorted = None

    @property
    def stream_time_ms(self) -> int | None:
        return self._expiry.stream_time_ms

    def advance(self, stream_time_ms: int) -> None:
        self._expiry.observe(stream_time_ms)

    def clear(self) -> None:
        super().clear()
        self._expiry.clear()
        self._versions.clear()

    def _insert(self, key: bytes, since_ms: int, value: bytes | None) -> None:
        versions = self._versions.setdefault(key, [])
        at = bisect_left(versions, since_ms, key=_since)
        is_there = at < len(versions) and versions[at][0] == since_ms
        self._note_ends(key, slice(max(0, at - 1), at + is_there), note=False)
        if is_there:
            versions[at] = (since_ms, value)
        else:
            versions.insert(at, (since_ms, value))
        self._note_ends(key, slice(max(0, at - 1), at + 1), note=True)

    def _remove(self, key: bytes, since_ms: int) -> None:
        versions = self._versions.get(key, [])
        at = bisect_left(versions, since_ms, key=_since)
        if at == len(versions) or versions[at][0] != since_ms:
            return
        neighbours = slice(max(0, at - 1), at + 1)
        self._note_ends(key, neighbours, note=False)
        del versions[at]
        if versions:
            self._note_ends(key, slice(max(0, at - 1), at), note=True)
        else:
            del self._versions[key]

    def _note_ends(self, key: bytes, affected: slice, *, note: bool) -> None:
        """A version expires when the next one is past the history; a removal without a next one, when it is itself."""
        versions = self._versions[key]
        for at in range(*affected.indices(len(versions))):
            since_ms, value = versions[at]
            if at + 1 < len(versions):
                end_ms = versions[at + 1][0]
            elif value is None:
                end_ms = since_ms
            else:
                continue
            change = self._expiry.add if note else self._expiry.discard
            change(end_ms, (key, since_ms))

    def _drop_expired(self) -> None:
        for key, since_ms in list(self._expiry.expired()):
            self._note_before(key, since_ms)
            self._remove(key, since_ms)

    def _note_before(self, key: bytes, since_ms: int) -> None:
        place = (key, since_ms)
        if place not in self._before:
            self._before[place] = self._stored(key, since_ms)

    def _stored(self, key: bytes, since_ms: int) -> bytes | None:
        """None if the version no longer exists."""
        versions = self._versions.get(key, [])
        at = bisect_left(versions, since_ms, key=_since)
        found = at < len(versions) and versions[at][0] == since_ms
        return _packed(versions[at][1]) if found else None


def version(key: bytes, value: bytes | None, since_ms: int) -> Change:
    """A version in the form for `load`."""
    return window_key(key, since_ms), _packed(value)


def split_version(place: bytes, stored: bytes) -> tuple[bytes, bytes | None, int]:
    """Key, value and timestamp of a version from `items` or `take_changes`."""
    key, since_ms, _ = split_window_key(place)
    return key, _unpacked(stored), since_ms


def _packed(value: bytes | None) -> bytes:
    return _REMOVED if value is None else _PRESENT + value


def _unpacked(stored: bytes) -> bytes | None:
    return stored[1:] if stored[:1] == _PRESENT else None
