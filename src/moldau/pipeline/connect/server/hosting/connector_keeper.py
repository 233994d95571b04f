"""Keeps the connectors of this worker's share at what the config topic says.

Their calls may take long, or hang: each is made in a thread of its own, of which there are few at a time. One that does
not return in time has failed; its thread is left alone. What fails is tried again with a growing pause.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from moldau.core.errors import MoldauError
from moldau.pipeline.connect.server.checks.connector_limits import ConnectorLimits
from moldau.pipeline.connect.server.hosting.connector_run import ConnectorRun, same_tasks, version_of
from moldau.pipeline.connect.server.hosting.shares import Shares
from moldau.pipeline.connect.server.hosting.state_reports import StateReports
from moldau.pipeline.connect.server.hosting.task_changes import needs_round, replaced_tasks
from moldau.pipeline.connect.server.settings import Configuration
from moldau.pipeline.connect.server.state.cluster_state import ClusterState, ConnectorEntry
from moldau.pipeline.connect.server.state.config_records import (
    Record,
    TargetState,
    Texts,
    fencing_record,
    task_records,
)
from moldau.pipeline.connect.server.state.status_records import State
from moldau.pipeline.connect.server.topics.config_log import ConfigStore
from moldau.pipeline.connect.server.topics.fencing import fence_tasks
from moldau.pipeline.lifecycle import BackOff

LOOK_EVERY_S: Final = 0.5
FENCE_AFTER_S: Final = 1.0
"""Tasks that hear of their replacement end by themselves, and commit what they have."""
CALLS_MAX: Final = 8
"""Calls of connectors at a time."""

log = logging.getLogger("moldau.connect")


@dataclass
class Kept:
    """A connector of this share."""

    config_offset: int
    """Of the configuration it was started with. -1: it has not been started."""
    restarts: int = 0
    """As asked for; `started_restarts` says how many of them have been made."""
    started_restarts: int = 0
    run: ConnectorRun | None = None
    """None: it is not started, or has failed."""
    state: State = State.UNASSIGNED
    call_began: float | None = None
    """None: no call is being made."""
    next_at: float = 0.0
    back_off: BackOff = field(default_factory=BackOff)
    replaced: frozenset[int] | None = None
    """Tasks that are to be fenced before those of the last commit start. None: not known, so all."""
    fence_at: float = 0.0
    call: int = 0
    """Counts calls: what a call that was given up says does not count."""


class ConnectorKeeper:
    def __init__(
        self,
        configuration: Configuration,
        store: Callable[[], ConfigStore],
        reports: StateReports,
    ) -> None:
        self._configuration = configuration
        self._settings = configuration.settings
        self._store = store
        self._reports = reports
        self._shares = Shares(1, ())
        self._kept: dict[str, Kept] = {}
        self._calls = 0
        self._changed = threading.Condition()
        self._version = 0
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="connect-connectors", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """Ends all connectors."""
        self.own(Shares(1, ()))
        self.wait_ended(timeout_s)
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def own(self, shares: Shares) -> None:
        """What is new is UNASSIGNED until it has started, whatever a worker before this one has reported."""
        for name, entry in list(self._store().state.connectors.items()):
            is_new = shares.has_connector(name) and not self._shares.has_connector(name)
            if is_new and name not in self._kept and entry.target is TargetState.STARTED:
                self._reports.connector(name, State.UNASSIGNED, version=version_of(entry.config))
        self._shares = shares
        self.wake()

    def wake(self) -> None:
        """Something else may be wanted."""
        with self._changed:
            self._version += 1
            self._changed.notify_all()

    def restart(self, name: str) -> None:
        with self._changed:
            kept = self._kept.get(name)
            if kept is not None:
                kept.restarts += 1
        self.wake()

    def state_of(self, name: str) -> State | None:
        """None if it does not run here."""
        kept = self._kept.get(name)
        return None if kept is None else kept.state

    def wait_ended(self, timeout_s: float) -> bool:
        """Returns when no connector runs here that does not belong to the share."""
        with self._changed:
            return self._changed.wait_for(
                lambda: all(self._shares.has_connector(name) for name in self._kept), timeout_s
            )

    # The thread that compares

    def _run(self) -> None:
        seen = -1
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or self._version != seen, LOOK_EVERY_S)  # noqa: B023
                seen = self._version
                if self._stopping:
                    return
            try:
                self._look()
            except Exception:
                log.exception("keeping connectors: looking again in %g s", LOOK_EVERY_S)

    def _look(self) -> None:
        connectors = self._store().state.connectors
        for name, entry in connectors.items():
            if self._shares.has_connector(name) and name not in self._kept:
                self._kept[name] = Kept(config_offset=-1)
            if (kept := self._kept.get(name)) is not None and self._shares.has_connector(name):
                self._settle(name, kept, entry)
        for name, kept in list(self._kept.items()):
            if name not in connectors or not self._shares.has_connector(name):
                self._let_go(name, kept, is_deleted=name not in connectors)

    def _settle(self, name: str, kept: Kept, entry: ConnectorEntry) -> None:
        """Begins the next call, if there is something to do."""
        if self._is_busy(name, kept):
            return
        self._reports.remove_tasks(name, len(entry.tasks))
        if entry.target is not TargetState.STARTED:
            self._rest(name, kept, entry)
            return
        is_new = kept.config_offset != entry.config_offset or kept.restarts != kept.started_restarts
        if is_new:
            kept.back_off.progressed()
            self._call(name, kept, self._starting, entry, kept.restarts)
        elif kept.run is not None and kept.run.is_source and entry.needs_fencing:
            if time.monotonic() >= kept.fence_at:
                self._call(name, kept, self._fencing, entry)
        elif time.monotonic() < kept.next_at:
            return
        elif kept.run is None:
            self._call(name, kept, self._starting, entry, kept.restarts)
        else:
            self._call(name, kept, self._checking, entry, kept.restarts)

    def _rest(self, name: str, kept: Kept, entry: ConnectorEntry) -> None:
        """Paused: its instance stays. Stopped: it goes."""
        state = State(entry.target.value)
        if entry.target is TargetState.STOPPED and kept.run is not None:
            run, kept.run, kept.config_offset = kept.run, None, -1
            self._call(name, kept, self._ending, run)
            return
        kept.state = state
        # A paused one is asked for its tasks at once when it goes on.
        kept.next_at = 0.0
        self._reports.connector(name, state, version=version_of(entry.config))

    def _let_go(self, name: str, kept: Kept, *, is_deleted: bool) -> None:
        if self._is_busy(name, kept):
            return
        if kept.run is not None:
            run, kept.run = kept.run, None
            self._call(name, kept, self._ending, run)
            return
        if is_deleted:
            self._reports.remove_connector(name)
        else:
            self._reports.connector_left(name)
        with self._changed:
            self._kept.pop(name)
            self._changed.notify_all()

    # Calls

    def _is_busy(self, name: str, kept: Kept) -> bool:
        if kept.call_began is None:
            return False
        if time.monotonic() - kept.call_began < self._settings.connector_timeout_ms / 1000:
            return True
        kept.call += 1
        self._ended(kept)
        kept.run = None
        text = (
            f"The connector has not returned from a call within {self._settings.connector_timeout_ms} ms "
            "(connector.call.timeout.ms). It is started again"
        )
        self._failed(name, kept, text)
        return False

    def _call(self, name: str, kept: Kept, make: Callable[..., None], *arguments: object) -> None:
        if self._calls >= CALLS_MAX:
            return
        self._calls += 1
        kept.call += 1
        kept.call_began = time.monotonic()
        threading.Thread(
            target=self._made,
            args=(name, kept, kept.call, make, arguments),
            name=f"connect-call-{name}",
            daemon=True,
        ).start()

    def _made(
        self, name: str, kept: Kept, call: int, make: Callable[..., None], arguments: Sequence[object]
    ) -> None:
        try:
            make(name, kept, call, *arguments)
        except Exception:
            log.exception("%s: a call has failed", name)
        finally:
            if kept.call == call:
                self._ended(kept)
            self.wake()

    def _ended(self, kept: Kept) -> None:
        with self._changed:
            kept.call_began = None
            self._calls -= 1

    def _starting(self, name: str, kept: Kept, call: int, entry: ConnectorEntry, restarts: int) -> None:
        before, kept.run = kept.run, None
        if before is not None:
            before.stop()
        run = ConnectorRun(
            name,
            entry.config,
            self._configuration.providers,
            tasks_limit=self._settings.tasks_limit,
            limits=ConnectorLimits.of(self._settings.disabled_plugins, self._settings.allowed_paths),
        )
        try:
            run.start()
            configs = run.task_configs()
        except Exception as failure:  # noqa: BLE001 a user's connector
            run.stop()
            if kept.call == call:
                kept.config_offset, kept.started_restarts = entry.config_offset, restarts
                self._failed(name, kept, run.trace_of(failure), run.version)
            return
        if kept.call != call:
            run.stop()
            return
        kept.run, kept.config_offset, kept.started_restarts = run, entry.config_offset, restarts
        self._running(name, kept, run, entry, configs)

    def _checking(self, name: str, kept: Kept, call: int, entry: ConnectorEntry, restarts: int) -> None:
        """The same connector still: its work may have to be spread again."""
        run = kept.run
        assert run is not None
        try:
            configs = run.task_configs() if run.changed() or not entry.has_current_tasks else entry.tasks
        except Exception as failure:  # noqa: BLE001 a user's connector
            if kept.call == call:
                kept.run = None
                run.stop()
                self._failed(name, kept, run.trace_of(failure), run.version)
            return
        if kept.call == call:
            self._running(name, kept, run, entry, configs)

    def _ending(self, name: str, kept: Kept, call: int, run: ConnectorRun) -> None:
        run.stop()

    def _running(
        self, name: str, kept: Kept, run: ConnectorRun, entry: ConnectorEntry, configs: Sequence[Texts]
    ) -> None:
        kept.back_off.progressed()
        kept.next_at = time.monotonic() + self._settings.changes_interval_ms / 1000
        kept.state = State.RUNNING
        self._reports.connector(name, State.RUNNING, run.waits_for(), run.version)
        try:
            self._write_tasks(name, kept, run, entry, configs)
        except MoldauError as failure:
            log.warning("%s: the tasks cannot be written, trying again: %s", name, failure)
            kept.next_at = time.monotonic() + kept.back_off.failed() / 1000

    def _fencing(self, name: str, kept: Kept, call: int, made_of: ConnectorEntry) -> None:
        """Lets the tasks of the last commit start when those before them can write no more."""

        def decide(state: ClusterState) -> Sequence[Record]:
            entry = state.connectors.get(name)
            if entry is None or entry.tasks_offset != made_of.tasks_offset:
                return ()
            return [fencing_record(name, len(entry.tasks))]

        replaced = kept.replaced
        if replaced is None:
            replaced = frozenset(range(max(len(made_of.tasks), made_of.fenced_tasks or 0)))
        try:
            group = self._settings.group_id
            fence_tasks(self._configuration.client, group, name, sorted(replaced))
            self._store().append(decide)
        except MoldauError as failure:
            log.warning("%s: its new tasks wait, trying again: %s", name, failure)
            kept.fence_at = time.monotonic() + kept.back_off.failed() / 1000
        else:
            kept.replaced = None
            log.info("%s: %d tasks before are fenced", name, len(replaced))

    def _write_tasks(
        self, name: str, kept: Kept, run: ConnectorRun, made_of: ConnectorEntry, configs: Sequence[Texts]
    ) -> None:
        """If they are others, or those of an older configuration. Nothing if the connector has changed since."""

        def decide(state: ClusterState) -> Sequence[Record]:
            entry = state.connectors.get(name)
            if entry is None or entry.config_offset != made_of.config_offset:
                return ()
            if entry.target is not TargetState.STARTED or not self._shares.has_connector(name):
                return ()
            if entry.has_current_tasks and same_tasks(entry.tasks, configs):
                return ()
            records = task_records(name, configs)
            if run.is_source:
                replaced = replaced_tasks(entry, configs)
                kept.replaced, kept.fence_at = replaced, time.monotonic() + FENCE_AFTER_S
                if not needs_round(replaced, configs):
                    records.append(fencing_record(name, len(configs)))
                elif entry.fenced_tasks is None:
                    # Of a connector that is older than fencing: from now on, tasks wait for it.
                    records.insert(0, fencing_record(name, len(entry.tasks)))
            return records

        if not made_of.has_current_tasks or not same_tasks(made_of.tasks, configs):
            self._store().append(decide)

    def _failed(self, name: str, kept: Kept, trace: str, version: str | None = None) -> None:
        wait_ms = kept.back_off.failed()
        kept.next_at = time.monotonic() + wait_ms / 1000
        kept.state = State.FAILED
        log.warning("the connector %s has failed, starting it again in %d ms: %s", name, wait_ms, trace)
        self._reports.connector(name, State.FAILED, trace, version)
