"""The config topic and the state it gives: what is appended has been decided on everything before it.

One decision at a time. Where another worker has appended in the meantime, it is made again. So every worker may take
requests, and there is no leader to ask.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from moldau.pipeline.connect.server.state.cluster_state import Change, ClusterState
from moldau.pipeline.connect.server.state.config_records import Record
from moldau.pipeline.connect.server.topics.compacted_topic import CompactedTopic, NotRead
from moldau.pipeline.connect.server.topics.config_writer import (
    ConfigWriter,
    NotWritten,
    OutcomeUnknown,
    WriterFenced,
)

ATTEMPTS_MAX: Final = 20

log = logging.getLogger("moldau.connect")

Decide = Callable[[ClusterState], Sequence[Record]]
"""What to write, given everything that has been written. Nothing is written if it raises, or answers nothing. May be
called again."""
OnChange = Callable[[Change], None]
"""Called for each change once the topic has been read to its end."""


class ConfigStore(Protocol):
    """Where configurations are kept."""

    @property
    def state(self) -> ClusterState: ...

    @property
    def problem(self) -> str | None:
        """Why nothing can be read or written; None if all is well."""

    def append(self, decide: Decide) -> None: ...

    def close(self) -> None: ...


class ConfigLog:
    def __init__(
        self, client: Mapping[str, str], topic: str, group: str, on_change: OnChange, *, timeout_s: float
    ) -> None:
        self._client = client
        self._name = topic
        self._group = group
        self._timeout_s = timeout_s
        self._on_change = on_change
        self._is_open = False
        self.state = ClusterState()
        self._topic = CompactedTopic(client, topic, group, self._replay)
        self._turn = threading.Lock()
        self._writer: ConfigWriter | None = None

    def open(self, deadline: float) -> None:
        """Returns when everything has been replayed. Raises ConfigError."""
        self._topic.open(deadline)
        self._is_open = True

    def close(self) -> None:
        self._topic.close()

    @property
    def problem(self) -> str | None:
        return self._topic.failure

    def append(self, decide: Decide) -> None:
        """Returns when what was written has been read back. Raises what `decide` raises, NotWritten, NotRead,
        OutcomeUnknown."""
        with self._turn:
            for _ in range(ATTEMPTS_MAX):
                try:
                    return self._append(decide)
                except WriterFenced as fenced:
                    log.info("%s: deciding again", fenced)
                    self._writer = None
                except (NotWritten, OutcomeUnknown, NotRead):
                    self._writer = None
                    raise
        raise NotWritten(f"other workers write to {self._name} all the time: try again")

    def _append(self, decide: Decide) -> None:
        if self.problem is not None:
            raise NotWritten(self.problem)
        if self._writer is None:
            self._writer = ConfigWriter(self._client, self._name, self._group, timeout_s=self._timeout_s)
            # No other worker can append now: what is there is all there is.
            self._topic.wait_for_end(self._timeout_s)
        records = decide(self.state)
        if records:
            deadline = time.monotonic() + self._timeout_s
            self._topic.wait_until(self._writer.write(records), deadline - time.monotonic())

    def _replay(self, key: bytes, value: bytes | None, offset: int) -> None:
        change = self.state.replay(key, value, offset)
        if change is not None and self._is_open:
            self._on_change(change)


class LocalConfigs:
    """Configurations in memory, for a standalone worker."""

    problem = None

    def __init__(self, on_change: OnChange) -> None:
        self.state = ClusterState()
        self._on_change = on_change
        self._turn = threading.RLock()

    def append(self, decide: Decide) -> None:
        with self._turn:
            for key, value in decide(self.state):
                change = self.state.replay(key, value, self.state.offset + 1)
                if change is not None:
                    self._on_change(change)

    def close(self) -> None:
        pass
