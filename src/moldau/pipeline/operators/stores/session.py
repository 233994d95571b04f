"""The session store: one aggregate per key and session, found by the time that it overlaps."""

from collections.abc import Iterable, Iterator

from moldau.pipeline.operators.stores.expiry import ExpiringStore
from moldau.pipeline.operators.stores.keys import session_key, split_session_key
from moldau.pipeline.operators.stores.store import Change, Item

Session = tuple[int, int]
"""Start and end, both inclusive."""


class SessionStore(ExpiringStore):
    """Values only: a session's timestamp is its end."""

    def __init__(self, name: str, retention_ms: int) -> None:
        super().__init__(name, retention_ms)
        self._sessions: dict[bytes, dict[Session, bytes]] = {}

    def get(self, key: bytes, start_ms: int, end_ms: int) -> bytes | None:
        if end_ms < self._expiry.oldest_ms:
            return None
        return self._sessions.get(key, {}).get((start_ms, end_ms))

    def put(self, key: bytes, start_ms: int, end_ms: int, value: bytes | None) -> bool:
        """A value None removes the session. Returns False for a session past the retention, which is not stored."""
        if self._expiry.observe(end_ms):
            self._drop_expired()
        elif end_ms < self._expiry.oldest_ms:
            return False
        session = (start_ms, end_ms)
        self._note(key, session)
        if value is None:
            self._remove(key, session)
            self._expiry.discard(end_ms, (key, session))
            return True
        sessions = self._sessions.setdefault(key, {})
        if session not in sessions:
            self._expiry.add(end_ms, (key, session))
        sessions[session] = value
        return True

    def find(self, key: bytes, earliest_end_ms: int, latest_start_ms: int) -> list[tuple[Session, bytes]]:
        """Sessions of a key that end at or after the one and start at or before the other, by end, then start."""
        sessions = self._sessions.get(key)
        if not sessions:
            return []
        earliest_end_ms = max(earliest_end_ms, self._expiry.oldest_ms)
        found = [
            (session, value)
            for session, value in sessions.items()
            if session[1] >= earliest_end_ms and session[0] <= latest_start_ms
        ]
        if len(found) > 1:
            found.sort(key=lambda one: (one[0][1], one[0][0]))
        return found

    def ending_in(self, from_ms: int, to_ms: int) -> list[tuple[bytes, Session, bytes]]:
        """Sessions of all keys that end in [from, to], by end, then key, then start."""
        from_ms = max(from_ms, self._expiry.oldest_ms)
        entries = self._expiry.between(from_ms, to_ms)
        found = [(session[1], key, session[0]) for key, session in entries if from_ms <= session[1] <= to_ms]
        found.sort()
        return [
            (key, (start_ms, end_ms), self._sessions[key][start_ms, end_ms])
            for end_ms, key, start_ms in found
        ]

    def all(self) -> Iterator[tuple[bytes, Session, bytes]]:
        for key in sorted(self._sessions):
            for session, value in self.find(key, -(2**63), 2**63):
                yield key, session, value

    def items(self) -> Iterator[Item]:
        for key, sessions in self._sessions.items():
            for (start_ms, end_ms), value in sessions.items():
                yield session_key(key, start_ms, end_ms), value

    def take_changes(self) -> list[Change]:
        return [
            (session_key(key, *session), self._sessions.get(key, {}).get(session))
            for key, session in self._take_touched()
        ]

    def _packed(self, place: tuple[bytes, Session], held: bytes | None) -> Change:
        return session_key(place[0], *place[1]), held

    def _note(self, key: bytes, session: Session) -> None:
        """Remembers the entry before it is changed."""
        place = (key, session)
        if place not in self._before:
            self._before[place] = self._sessions.get(key, {}).get(session)

    def load(self, changes: Iterable[Change]) -> None:
        for data, value in changes:
            key, start_ms, end_ms = split_session_key(data)
            session = (start_ms, end_ms)
            if value is None:
                self._remove(key, session)
                self._expiry.discard(end_ms, (key, session))
            else:
                self._sessions.setdefault(key, {})[session] = value
                self._expiry.add(end_ms, (key, session))
                self._expiry.observe(end_ms)

    def clear(self) -> None:
        self._sessions.clear()
        self._forget_changes()
        self._expiry.clear()

    def __len__(self) -> int:
        return sum(map(len, self._sessions.values()))

    def _remove(self, key: bytes, session: Session) -> None:
        sessions = self._sessions.get(key)
        if sessions is not None:
            sessions.pop(session, None)
            if not sessions:
                del self._sessions[key]

    def _drop_expired(self) -> None:
        for key, session in self._expiry.expired():
            self._note(key, session)
            self._remove(key, session)
