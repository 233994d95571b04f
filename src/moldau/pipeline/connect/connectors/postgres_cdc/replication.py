"""A connection in replication mode: makes slots, and receives what logical decoding sends. Owns the socket.

Nothing blocks for long. What the server sends stays in the socket until it is asked for, so a slow writer slows the
server down and needs no memory here.
"""

import select
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from struct import Struct
from typing import Final, NamedTuple

import psycopg
from psycopg import pq

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.postgres_cdc.failures import failure_of
from moldau.pipeline.connect.connectors.postgres_cdc.pgoutput import PG_EPOCH_US, Lsn, lsn_of

_DATA: Final = Struct(">cQQq")
_KEEPALIVE: Final = Struct(">cQqB")
_STATUS: Final = Struct(">cQQQqB")


class Slot(NamedTuple):
    lsn: Lsn
    """Transactions that commit here or later are decoded."""
    snapshot: str
    """The name of the database as it was at that moment, until the next command."""


class Change(NamedTuple):
    lsn: Lsn
    data: bytes


class ReplicationConnection:
    def __init__(self, parameters: dict[str, str], server: str) -> None:
        """Raises RetriableError if the server cannot be reached, ConnectError if it does not let us in."""
        self._server = server
        text = " ".join(f"{name}='{_escaped(value)}'" for name, value in parameters.items())
        self._connection = pq.PGconn.connect(f"{text} replication=database".encode())
        if self._connection.status != pq.ConnStatus.OK:
            error = self._connection.get_error_message()
            self._connection.finish()
            raise failure_of(error, server)
        self._connection.nonblocking = 1
        self.confirmed: Lsn = 0
        self._reported_s = 0.0
        self.sent_to: Lsn = 0
        """Everything before this LSN has been decoded and received."""

    def close(self) -> None:
        self._connection.finish()

    # Slots

    def begin_slot(self, name: str, *, is_temporary: bool) -> None:
        """Asks for a slot with a snapshot. The server waits until every running transaction has ended."""
        kind = "TEMPORARY " if is_temporary else ""
        command = f"CREATE_REPLICATION_SLOT {_quoted(name)} {kind}LOGICAL pgoutput EXPORT_SNAPSHOT"
        with self._live():
            self._connection.send_query(command.encode())
            self._connection.flush()

    def finish_slot(self, wait_s: float) -> Slot | None:
        """None while the server is not ready."""
        if not self._arrived(wait_s):
            return None
        with self._live():
            result = self._connection.get_result()
            while self._connection.get_result() is not None:
                pass
        if result is None:
            raise self._ended()
        if result.status != pq.ExecStatus.TUPLES_OK:
            raise failure_of(result.get_error_message(), self._server)
        point, snapshot = result.get_value(0, 1), result.get_value(0, 2)
        assert point is not None and snapshot is not None
        return Slot(lsn_of(point.decode()), snapshot.decode())

    def drop_slot(self, name: str) -> None:
        with self._live():
            result = self._connection.exec_(f"DROP_REPLICATION_SLOT {_quoted(name)} WAIT".encode())
        if result.status not in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
            raise failure_of(result.get_error_message(), self._server)

    def _arrived(self, wait_s: float) -> bool:
        end = time.monotonic() + wait_s
        while True:
            self._consume()
            if not self._connection.is_busy():
                return True
            left = end - time.monotonic()
            if left <= 0:
                return False
            select.select([self._connection.socket], [], [], left)

    # The stream

    def start(self, slot: str, publication: str) -> None:
        """From the slot's own position. Raises SlotInUse."""
        options = (
            f"proto_version '1', publication_names '{_quoted(publication).replace(chr(39), chr(39) * 2)}'"
        )
        command = f"START_REPLICATION SLOT {_quoted(slot)} LOGICAL 0/0 ({options})"
        with self._live():
            result = self._connection.exec_(command.encode())
        if result.status != pq.ExecStatus.COPY_BOTH:
            raise failure_of(result.get_error_message(), self._server)

    def receive(self, wait_s: float) -> Change | None:
        """The next message of the plugin; None if there is none within the time."""
        end = time.monotonic() + wait_s
        while True:
            with self._live():
                size, data = self._connection.get_copy_data(1)
            if size > 0:
                found = self._read(bytes(data))
                if found is not None:
                    return found
                continue
            if size < 0:
                raise self._ended()
            left = end - time.monotonic()
            if left <= 0:
                return None
            if not select.select([self._connection.socket], [], [], left)[0]:
                return None
            self._consume()

    def confirm(self, lsn: Lsn) -> None:
        """Everything before this LSN is written: the server may forget it."""
        self.confirmed = max(self.confirmed, lsn)
        self.report()

    def advance(self, lsn: Lsn) -> None:
        """As `confirm`, but the server learns it with the next report."""
        self.confirmed = max(self.confirmed, lsn)

    def report_if_due(self, interval_s: float) -> None:
        if time.monotonic() - self._reported_s >= interval_s:
            self.report()

    def report(self) -> None:
        self._reported_s = time.monotonic()
        now = int(time.time() * 1_000_000) - PG_EPOCH_US
        lsn = self.confirmed
        # A status of 0 would be taken as it is; the slot never moves back.
        with self._live():
            self._connection.put_copy_data(_STATUS.pack(b"r", lsn, lsn, lsn, now, 0))
            self._connection.flush()

    def _read(self, data: bytes) -> Change | None:
        if data[:1] == b"w":
            _, lsn, _, _ = _DATA.unpack_from(data)
            return Change(lsn, data[_DATA.size :])
        if data[:1] == b"k":
            _, end, _, wants_reply = _KEEPALIVE.unpack_from(data)
            self.sent_to = max(self.sent_to, end)
            if wants_reply:
                self.report()
        return None

    def _consume(self) -> None:
        with self._live():
            self._connection.consume_input()

    @contextmanager
    def _live(self) -> Iterator[None]:
        """A connection that turns out to have ended can be made again."""
        try:
            yield
        except psycopg.Error as failure:
            raise self._ended() from failure

    def _ended(self) -> ConnectError:
        text = self._connection.get_error_message()
        with suppress(psycopg.Error):
            result = self._connection.get_result()
            if result is not None and result.status == pq.ExecStatus.FATAL_ERROR:
                text = result.get_error_message() or text
        return failure_of(text or "the server ended the stream", self._server)


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")
