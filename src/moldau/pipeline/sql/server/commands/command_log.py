"""The catalog and the command topic together: what is appended has been decided on everything before it.

One statement at a time. Where another server has appended in the meantime, the statement is decided again. What became
of a command is what replaying it says, which is the same on all servers.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from moldau.core.errors import MoldauError
from moldau.pipeline.sql.engine import Applied, Catalog, Command
from moldau.pipeline.sql.server.commands.command_topic import CommandTopic, NotRead
from moldau.pipeline.sql.server.commands.command_writer import (
    CommandWriter,
    NotWritten,
    OutcomeUnknown,
    WriterFenced,
)
from moldau.pipeline.sql.server.requests import CommandStatus
from moldau.pipeline.sql.syntax.errors import SqlError

ATTEMPTS_MAX: Final = 20
STATUSES_MAX: Final = 10_000

log = logging.getLogger("moldau.sql")

Prepare = Callable[[], Command | None]
"""Decides with the catalog as it is, and makes what the command needs. None: there is nothing to be logged. May be
called again."""


class Log(Protocol):
    """Where commands go."""

    @property
    def statuses(self) -> Mapping[str, CommandStatus]:
        """What became of each command, by its id."""

    @property
    def problem(self) -> str | None:
        """Why no command can be appended; None if all is well."""

    def append(self, prepare: Prepare) -> Applied | None: ...

    def wait_until(self, offset: int, timeout_s: float) -> None: ...

    def close(self) -> None: ...


class Replayed:
    """Replays commands into the catalog and keeps what became of them."""

    def __init__(self, catalog: Catalog, on_applied: Callable[[Applied], None]) -> None:
        self._catalog = catalog
        self._on_applied = on_applied
        self.statuses: OrderedDict[str, CommandStatus] = OrderedDict()
        self._applied: OrderedDict[int, Applied] = OrderedDict()

    def replay(self, command: Command, offset: int) -> Applied:
        applied = self._catalog.replay(command, offset)
        if not applied.is_done:
            log.warning("command %d (%s) changes nothing: %s", offset, command.id, applied.message)
        self._applied[offset] = applied
        status = CommandStatus("SUCCESS" if applied.is_done else "ERROR", applied.message, applied.query_id)
        self.statuses.pop(command.id, None)
        self.statuses[command.id] = status
        if len(self._applied) > STATUSES_MAX:
            self._applied.popitem(last=False)
        if len(self.statuses) > STATUSES_MAX:
            self.statuses.popitem(last=False)
        self._on_applied(applied)
        return applied

    def applied(self, offset: int) -> Applied:
        return self._applied[offset]


class CommandLog:
    def __init__(
        self,
        client: Mapping[str, str],
        topic: str,
        catalog: Catalog,
        on_applied: Callable[[Applied], None],
        *,
        timeout_s: float,
    ) -> None:
        self._client = client
        self._name = topic
        self._timeout_s = timeout_s
        self._replayed = Replayed(catalog, on_applied)
        self._topic = CommandTopic(client, topic, self._replay)
        self._turn = threading.Lock()
        self._writer: CommandWriter | None = None
        self._unreadable: str | None = None

    def open(self, deadline: float) -> None:
        """Returns when all commands have been replayed. Raises ConfigError."""
        self._topic.open(deadline)

    def close(self) -> None:
        self._topic.close()

    @property
    def statuses(self) -> Mapping[str, CommandStatus]:
        return self._replayed.statuses

    @property
    def problem(self) -> str | None:
        return self._topic.failure or self._unreadable

    def wait_until(self, offset: int, timeout_s: float) -> None:
        self._topic.wait_until(offset, timeout_s)

    def append(self, prepare: Prepare) -> Applied | None:
        """Returns when the command has been read back. Raises what `prepare` raises, NotWritten, NotRead,
        OutcomeUnknown."""
        with self._turn:
            for _ in range(ATTEMPTS_MAX):
                try:
                    return self._append(prepare)
                except WriterFenced as fenced:
                    log.info("%s: deciding again", fenced)
                    self._writer = None
                except (NotWritten, OutcomeUnknown):
                    self._writer = None
                    raise
        raise NotWritten(f"other servers write to {self._name} all the time: try again")

    def _append(self, prepare: Prepare) -> Applied | None:
        if self.problem is not None:
            raise NotWritten(self.problem)
        if self._writer is None:
            self._writer = CommandWriter(self._client, self._name, timeout_s=self._timeout_s)
            # No other server can append now: what is there is all there is.
            self._topic.wait_for_end(self._timeout_s)
        command = prepare()
        if command is None:
            return None
        deadline = time.monotonic() + self._timeout_s
        offset = self._writer.write(*command.to_bytes())
        try:
            self._topic.wait_until(offset, deadline - time.monotonic())
        except NotRead:
            self._writer = None
            raise
        return self._replayed.applied(offset)

    def _replay(self, key: bytes, value: bytes, offset: int) -> None:
        try:
            command = Command.from_bytes(key, value)
        except SqlError as wrong:
            # What follows may depend on it, so nothing more is written by this server.
            self._unreadable = self._unreadable or f"command {offset} of {self._name} cannot be read: {wrong}"
            log.error("%s", self._unreadable)
            return
        self._replayed.replay(command, offset)


class LocalLog:
    """Commands in memory, for a server that runs a file of statements and takes no others."""

    def __init__(self, catalog: Catalog, on_applied: Callable[[Applied], None]) -> None:
        self._replayed = Replayed(catalog, on_applied)
        self._next = 0
        self.is_closed = False
        """After the file: no more commands."""

    @property
    def statuses(self) -> Mapping[str, CommandStatus]:
        return self._replayed.statuses

    @property
    def problem(self) -> str | None:
        return None

    def append(self, prepare: Prepare) -> Applied | None:
        command = prepare()
        if command is None:
            return None
        offset, self._next = self._next, self._next + 1
        return self._replayed.replay(command, offset)

    def wait_until(self, offset: int, timeout_s: float) -> None:
        if offset >= self._next:
            raise MoldauError(f"there is no command {offset}")

    def close(self) -> None:
        pass
