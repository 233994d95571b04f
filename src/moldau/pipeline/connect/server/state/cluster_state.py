"""What the config topic says: connectors, their tasks, and what they are to be. Changed by `replay` only.

Task configurations count when the commit record that follows them has been read. Compaction may have removed some of
them: then the connector is inconsistent, and the worker that runs it writes them again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, NamedTuple

from moldau.pipeline.connect.server.state.config_records import (
    COMMIT,
    CONNECTOR,
    FENCING,
    LOGGER,
    RESTART,
    TARGET_STATE,
    TASK,
    RestartRequest,
    TargetState,
    Texts,
    count_in,
    flag_in,
    parsed,
    target_state_in,
    texts_in,
)

TASK_COUNT: Final = "task-count"
"""In records of fencing."""


class Kind(Enum):
    CONFIG = "a connector was created or changed"
    REMOVED = "a connector was deleted"
    TASKS = "the tasks of a connector changed"
    TARGET = "a connector is to be in another state"
    RESTART = "a connector is to be restarted"
    LOGGER = "a logger has another level"


class Change(NamedTuple):
    """What a record has changed."""

    kind: Kind
    name: str
    restart: RestartRequest | None = None
    level: str = ""


@dataclass(frozen=True, slots=True)
class ConnectorEntry:
    name: str
    config: Texts
    target: TargetState = TargetState.STARTED
    tasks: tuple[Texts, ...] = ()
    is_consistent: bool = True
    """Whether all configurations of its tasks are known."""
    tasks_offset: int = -1
    """Of the record that committed them. Tasks that are older than the configuration are those of the last one."""
    config_offset: int = 0
    """Of the record with its configuration."""

    fenced_tasks: int | None = None
    """The count of tasks when tasks were fenced last. None: they have never been."""
    fenced_offset: int = -1
    """Of that record."""

    @property
    def needs_fencing(self) -> bool:
        """If it is a source: tasks of an earlier commit may still write."""
        return self.fenced_tasks is not None and self.fenced_offset < self.tasks_offset

    @property
    def has_current_tasks(self) -> bool:
        return self.is_consistent and self.tasks_offset > self.config_offset


@dataclass(slots=True)
class ClusterState:
    connectors: Mapping[str, ConnectorEntry] = field(default_factory=dict)
    """By name. Replaced, never changed: a reader keeps what it has got."""
    offset: int = -1
    """Of the last record."""
    _targets: dict[str, TargetState] = field(default_factory=dict)
    _pending: dict[str, dict[int, Texts]] = field(default_factory=dict)
    _counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Of tasks, and the offset of the commit."""
    _fenced: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The count of tasks, and the offset of the record."""
    _committed: dict[str, dict[int, Texts]] = field(default_factory=dict)
    _deleted: set[str] = field(default_factory=set)
    """A commit of one of these came too late: it says nothing about a later connector of this name."""

    def replay(self, key: bytes, value: bytes | None, offset: int) -> Change | None:
        """None if nothing has changed, as for records of another kind."""
        self.offset = offset
        name, content = key.decode(errors="replace"), parsed(value)
        # The longer prefixes first: `restart-connector-` and `target-state-` do not begin with another one.
        if name.startswith(CONNECTOR):
            return self._connector(name.removeprefix(CONNECTOR), content, offset)
        if name.startswith(TARGET_STATE):
            return self._target(name.removeprefix(TARGET_STATE), content)
        if name.startswith(COMMIT):
            return self._commit(name.removeprefix(COMMIT), content, offset)
        if name.startswith(FENCING):
            return self._fencing(name.removeprefix(FENCING), content, offset)
        if name.startswith(TASK):
            self._task(name.removeprefix(TASK), content)
            return None
        if name.startswith(RESTART) and content is not None:
            asked = name.removeprefix(RESTART)
            request = RestartRequest(
                asked, flag_in(content, "only-failed"), flag_in(content, "include-tasks")
            )
            return Change(Kind.RESTART, asked, restart=request) if asked in self.connectors else None
        if name.startswith(LOGGER) and isinstance(content, dict) and isinstance(content.get("level"), str):
            return Change(Kind.LOGGER, name.removeprefix(LOGGER), level=content["level"])
        return None

    def _connector(self, name: str, content: object, offset: int) -> Change | None:
        config = texts_in(content)
        if config is None:
            # The target state has a tombstone of its own, which may be read later: it must not outlive the connector.
            for known in (self._pending, self._counts, self._committed, self._fenced, self._targets):
                known.pop(name, None)
            self._deleted.add(name)
            if name not in self.connectors:
                return None
            self.connectors = {other: one for other, one in self.connectors.items() if other != name}
            return Change(Kind.REMOVED, name)
        self._deleted.discard(name)
        before = self.connectors.get(name)
        target = self._targets.get(name, TargetState.STARTED)
        entry = replace(before or ConnectorEntry(name, config, target), config=config, config_offset=offset)
        self._put(entry if before is not None else self._with_tasks(entry))
        return Change(Kind.CONFIG, name)

    def _target(self, name: str, content: object) -> Change | None:
        state = target_state_in(content)
        if state is None:
            self._targets.pop(name, None)
            # Without a record a connector is started. That of a deleted one is gone already.
            state = TargetState.STARTED
        else:
            self._targets[name] = state
        before = self.connectors.get(name)
        if before is None or before.target is state:
            return None
        self._put(replace(before, target=state))
        return Change(Kind.TARGET, name)

    def _task(self, label: str, content: object) -> None:
        name, _, number = label.rpartition("-")
        config = texts_in(content)
        if config is not None and number.isdecimal():
            self._pending.setdefault(name, {})[int(number)] = config

    def _commit(self, name: str, content: object, offset: int) -> Change | None:
        count = count_in(content)
        if count is None or name in self._deleted:
            self._pending.pop(name, None)
            return None
        found = {**self._committed.get(name, {}), **self._pending.pop(name, {})}
        self._committed[name] = {number: config for number, config in found.items() if number < count}
        self._counts[name] = count, offset
        before = self.connectors.get(name)
        if before is None:
            return None
        self._put(self._with_tasks(before))
        return Change(Kind.TASKS, name)

    def _fencing(self, name: str, content: object, offset: int) -> Change | None:
        count = count_in(content, TASK_COUNT)
        if count is None or name in self._deleted:
            return None
        self._fenced[name] = count, offset
        before = self.connectors.get(name)
        if before is None:
            return None
        self._put(replace(before, fenced_tasks=count, fenced_offset=offset))
        return Change(Kind.TASKS, name)

    def _with_tasks(self, entry: ConnectorEntry) -> ConnectorEntry:
        """A commit may precede the connector's record in a compacted topic."""
        (count, offset), tasks = self._counts.get(entry.name, (0, -1)), self._committed.get(entry.name, {})
        fenced = self._fenced.get(entry.name)
        is_whole = len(tasks) == count
        return replace(
            entry,
            tasks=tuple(tasks[number] for number in range(count)) if is_whole else (),
            is_consistent=is_whole,
            tasks_offset=offset,
            fenced_tasks=None if fenced is None else fenced[0],
            fenced_offset=-1 if fenced is None else fenced[1],
        )

    def _put(self, entry: ConnectorEntry) -> None:
        self.connectors = {**self.connectors, entry.name: entry}
