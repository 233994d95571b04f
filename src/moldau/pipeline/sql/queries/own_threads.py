"""Queries that call functions of the user: each has a thread of its own, and a consumer if it reads topics.

The time limit of a function ends Python code. A call that blocks, as in a request without a timeout, ends when it
returns, and holds its thread until then: it must not be a thread that other queries need.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Any, Final, TypeVar

from confluent_kafka import Consumer

from moldau.pipeline.operators.failures import FAILURES
from moldau.pipeline.operators.records import Columns
from moldau.pipeline.sql.queries import clients
from moldau.pipeline.sql.queries.history import RETRY_S, Turn
from moldau.pipeline.sql.queries.reader import Reader, Take
from moldau.pipeline.sql.queries.row_stream import COMPLETE, End, EndReason, RowStream
from moldau.pipeline.sql.syntax.errors import SqlError

FETCH_WAIT_MS: Final = 100
ROWS_PER_OFFER: Final = 500
POLL_S: Final = 0.05
LOOK_S: Final = 1.0
TELL_AFTER_S: Final = 30.0
JOIN_S: Final = 1.0
"""For all threads together that are at work when the server stops."""

T = TypeVar("T")

log = logging.getLogger("moldau.sql")


class OwnThreads:
    def __init__(
        self,
        bootstrap_servers: str,
        settings: clients.ClientSettings,
        *,
        threads_max: int,
        tell_after_s: float = TELL_AFTER_S,
    ) -> None:
        """A query that works on one batch for longer than `tell_after_s` is written to the log."""
        self._settings = {
            **clients.consumer(bootstrap_servers, settings, "moldau-sql-own", FETCH_WAIT_MS),
            "enable.partition.eof": "true",
        }
        self._threads_max = threads_max
        self._tell_after_s = tell_after_s
        self._lock = threading.Lock()
        self._threads: set[threading.Thread] = set()
        self._busy: dict[int, tuple[RowStream, float]] = {}
        """By thread: the query, and since when it works on a batch."""
        self._closing = threading.Event()
        self._watcher: threading.Thread | None = None

    def watched(self, stream: RowStream, take: Take) -> Take:
        """What a reader of such a query takes records with."""

        def taken(batch: Sequence[Columns]) -> list[Any]:
            with self._at_work(stream):
                return take(batch)

        return taken

    def follow(self, reader: Reader) -> None:
        """Reads from the reader's positions on until its stop or its end. SqlError: there are too many threads."""
        reader.stream.on_close = reader.release
        self._start(reader.stream, lambda: self._read(reader))

    def hand_over(self, stream: RowStream, rows: Iterator[Any]) -> None:
        """Offers the rows as the reader takes them. SqlError: there are too many threads."""

        def offer() -> None:
            while stream.end is None:
                with self._at_work(stream):
                    some = list(islice(rows, ROWS_PER_OFFER))
                if not some:
                    stream.finish(COMPLETE)
                elif not stream.offer(some):
                    stream.wait_for_room()

        self._start(stream, offer)

    def call(self, name: str, function: Callable[[], T]) -> "Future[T]":
        """Calls a function that calls one of the user. `name`: for the log. SqlError: there are too many threads."""
        stream, future = RowStream((), query_id=name), Future[T]()
        # From here on it cannot be cancelled.
        future.set_running_or_notify_cancel()

        def call() -> None:
            try:
                with self._at_work(stream):
                    future.set_result(function())
            except BaseException as failure:  # noqa: BLE001  whoever waits has to know
                future.set_exception(failure)

        self._start(stream, call)
        return future

    def close(self) -> None:
        """All streams have ended. Threads that a function blocks are left behind."""
        self._closing.set()
        with self._lock:
            threads = list(self._threads)
        deadline = time.monotonic() + JOIN_S
        for thread in threads:
            while thread.is_alive() and (thread.ident not in self._busy or time.monotonic() < deadline):
                thread.join(POLL_S)

    def _start(self, stream: RowStream, work: Callable[[], None]) -> None:
        with self._lock:
            if len(self._threads) >= self._threads_max:
                raise self._too_many()
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="sql-own-watch", daemon=True)
                self._watcher.start()
            thread = threading.Thread(target=self._run, args=(stream, work), name="sql-own", daemon=True)
            self._threads.add(thread)
            thread.start()

    def _too_many(self) -> SqlError:
        blocked = sum(stream.end is not None for stream, _ in list(self._busy.values()))
        return SqlError(
            f"{len(self._threads)} queries call functions of the user, which is the limit (ksql.max.push.queries); "
            f"{blocked} of them have ended, but their function has not returned",
            hint="End one first. A function that blocks holds its thread until it returns: give its requests a "
            "timeout, and restart the server to be rid of those that never return.",
        )

    def _run(self, stream: RowStream, work: Callable[[], None]) -> None:
        try:
            work()
        except FAILURES as failure:
            stream.finish(End(EndReason.FAILED, failure))
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _read(self, reader: Reader) -> None:
        consumer = Consumer(self._settings)
        try:
            while not (reader.is_over or self._closing.is_set()):
                Turn(reader, consumer, None, self._closing.is_set, lambda: False).run()
                if reader.has_to_wait:
                    self._closing.wait(RETRY_S)
                elif not reader.stream.has_room:
                    reader.stream.wait_for_room()
        finally:
            consumer.close()

    @contextlib.contextmanager
    def _at_work(self, stream: RowStream) -> Iterator[None]:
        thread = threading.get_ident()
        self._busy[thread] = stream, time.monotonic()
        try:
            yield
        finally:
            del self._busy[thread]

    def _watch(self) -> None:
        told: set[tuple[int, float]] = set()
        while not self._closing.wait(LOOK_S):
            now = time.monotonic()
            busy = {(thread, since): stream for thread, (stream, since) in self._busy.copy().items()}
            told &= busy.keys()
            for (thread, since), stream in busy.items():
                if now - since >= self._tell_after_s and (thread, since) not in told:
                    told.add((thread, since))
                    log.warning(
                        "%s has been at work for %.0f s without a result: a function of the user that it calls may "
                        "block. Other queries go on; give what the function waits for a timeout",
                        stream.query_id,
                        now - since,
                    )
