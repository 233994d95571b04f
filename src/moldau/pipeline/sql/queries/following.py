"""Brings readers from history to the tail, and back again when a client was slow."""

from moldau.pipeline.sql.queries import clients
from moldau.pipeline.sql.queries.history import History
from moldau.pipeline.sql.queries.reader import Reader, Stage
from moldau.pipeline.sql.queries.tail import Tail


class Following:
    def __init__(self, bootstrap_servers: str, settings: clients.ClientSettings) -> None:
        self._tail = Tail(bootstrap_servers, settings, self._on_stopped)
        self._history = History(bootstrap_servers, settings, self._tail, self._on_full)

    def start(self, reader: Reader, *, from_end: bool) -> None:
        """`from_end`: the reader's positions are the ends of its topics, and what is written meanwhile may be left
        out."""
        stream = reader.stream
        stream.on_close = lambda: self._release(reader)
        stream.on_room = lambda: self._on_room(reader)
        if not from_end:
            self._history.submit(reader)
            return
        first = self._tail.join(reader)
        reader.positions.update({place: max(at, first[place]) for place, at in reader.positions.items()})
        if not reader.go_live():
            self._tail.leave(reader)
            self._on_full(reader)

    def close(self) -> None:
        self._history.close()
        self._tail.close()

    def _on_stopped(self, reader: Reader) -> None:
        """The tail gives it no more."""
        if reader.stage is Stage.LIVE:
            self._on_full(reader)

    def _on_full(self, reader: Reader) -> None:
        if reader.move_to(Stage.FULL, of=(Stage.LIVE, Stage.HISTORY)) and reader.stream.has_room:
            self._on_room(reader)

    def _on_room(self, reader: Reader) -> None:
        if reader.move_to(Stage.HISTORY, of=(Stage.FULL,)):
            self._history.submit(reader)

    def _release(self, reader: Reader) -> None:
        reader.release()
        self._tail.leave(reader)
