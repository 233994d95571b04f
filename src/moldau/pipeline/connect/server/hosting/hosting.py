"""The share of this worker: its connectors and its tasks together, and what is to be done when it changes."""

import logging
import time
from collections.abc import Callable
from typing import Final

from moldau.pipeline.connect.server.hosting.connector_keeper import ConnectorKeeper
from moldau.pipeline.connect.server.hosting.shares import Shares
from moldau.pipeline.connect.server.hosting.state_reports import StateReports
from moldau.pipeline.connect.server.hosting.task_driver import TaskDriver
from moldau.pipeline.connect.server.settings import Configuration
from moldau.pipeline.connect.server.state.config_records import RestartRequest
from moldau.pipeline.connect.server.state.status_board import StatusBoard
from moldau.pipeline.connect.server.state.status_records import State
from moldau.pipeline.connect.server.topics.config_log import ConfigStore

RESTING: Final = frozenset({State.UNASSIGNED, State.PAUSED, State.STOPPED})
"""States that stay true when nothing runs."""

log = logging.getLogger("moldau.connect")


class Hosting:
    def __init__(
        self,
        configuration: Configuration,
        store: Callable[[], ConfigStore],
        board: Callable[[], StatusBoard],
        reports: StateReports,
    ) -> None:
        self._settings = configuration.settings
        self._store = store
        self._board = board
        self._reports = reports
        self.shares = Shares(1, ())
        self._keeper = ConnectorKeeper(configuration, store, reports)
        self.driver = TaskDriver(configuration, lambda: store().state, reports)

    def start(self) -> None:
        """Raises ConfigError if `state.dir` cannot be used."""
        self.driver.start()
        self._keeper.start()
        self._leave_all()

    def stop(self) -> None:
        self._keeper.stop(self._settings.graceful_stop_ms / 1000)
        self.driver.own(Shares(1, ()))
        self.driver.stop()
        self.driver.left()

    def own(self, shares: Shares, waits: bool) -> None:
        """Takes a share; with `waits` returns when everything else has ended, or takes too long."""
        self.shares = shares
        self._keeper.own(shares)
        self.driver.own(shares)
        if waits:
            deadline = time.monotonic() + self._settings.rebalance_timeout_ms / 1000 / 2
            is_clean = self._keeper.wait_ended(deadline - time.monotonic())
            if not (self.driver.wait_ended(max(deadline - time.monotonic(), 0)) and is_clean):
                log.warning("not all work that moves to another worker has ended in time")
        self.driver.left()

    def _leave_all(self) -> None:
        """What a worker of this address had and reported before it died does not run."""
        board = self._board()
        for name, status in board.connectors.copy().items():
            if status.state not in RESTING:
                self._reports.connector_left(name)
        for key, status in board.tasks.copy().items():
            if status.state not in RESTING:
                self._reports.task_left(key)

    def wake(self) -> None:
        self._keeper.wake()
        self.driver.wake()

    def restart(self, request: RestartRequest) -> None:
        """What of it runs here."""
        name, board = request.connector, self._board()
        if self.shares.has_connector(name):
            status = board.connectors.get(name)
            if not request.only_failed or (status is not None and status.state is State.FAILED):
                self._keeper.restart(name)
        if not request.with_tasks:
            return
        statuses = board.tasks_of(name)
        entry = self._store().state.connectors.get(name)
        for number in range(len(entry.tasks) if entry is not None else 0):
            failed = number in statuses and statuses[number].state is State.FAILED
            if self.shares.has_task(name, number) and (failed or not request.only_failed):
                self.restart_task(name, number)

    def restart_task(self, name: str, number: int) -> None:
        self.driver.restart(name, number)
