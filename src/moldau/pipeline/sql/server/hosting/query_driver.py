"""The driver process of this server, kept at what the catalog says while this server hosts the queries.

One thread reads the driver's status lines. Another compares, whenever something may have changed, what is wanted with
what runs, and sends the driver what is missing: each application on its own, so that a slow one holds up no other.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from confluent_kafka.admin import AdminClient

from moldau.pipeline.driver_process.client import DriverAway, DriverClient, DriverRefused, free_address
from moldau.pipeline.driver_process.process import Status
from moldau.pipeline.driver_process.supervision import Supervision
from moldau.pipeline.lifecycle import BackOff, PipelineState
from moldau.pipeline.sql.engine import Catalog
from moldau.pipeline.sql.engine.state import Definitions
from moldau.pipeline.sql.server.hosting.application_files import ApplicationFiles, Wanted
from moldau.pipeline.sql.server.hosting.leftovers import remove_leftovers
from moldau.pipeline.sql.server.processing_log.failure_log import FailureLog
from moldau.pipeline.sql.server.settings import Configuration

LOOK_EVERY_S: Final = 1.0
ACTORS: Final = 4
"""How many applications are changed at a time."""

log = logging.getLogger("moldau.sql")


@dataclass(slots=True)
class Hosted:
    """What is known of one application in the driver."""

    content: str | None = None
    """Of the file, as the driver has loaded it; None: the driver does not have it."""
    back_off: BackOff = field(default_factory=BackOff)
    retry_at: float = 0.0
    is_busy: bool = False
    refusal: str = ""
    """Why the driver did not take it."""


class QueryDriver:
    def __init__(
        self,
        configuration: Configuration,
        catalog: Catalog,
        admin: AdminClient,
        function_paths: Callable[[], tuple[str, ...]],
        failures_of: Callable[[str], FailureLog | None],
    ) -> None:
        self._configuration = configuration
        self._settings = configuration.settings
        self._catalog = catalog
        self._admin = admin
        self._function_paths = function_paths
        self.files = ApplicationFiles(self._settings, failures_of)
        self._is_host = False
        self._made_of: Definitions | None = None
        self._made: Mapping[str, Wanted] = {}
        self._hosted: dict[str, Hosted] = {}
        self.statuses: Mapping[str, Status] = {}
        """The last status of each application, by its id. Replaced, never changed."""
        self.problem: str | None = None
        """Why the driver process does not run."""
        self._supervision: Supervision | None = None
        self._client: DriverClient | None = None
        self._reader: threading.Thread | None = None
        self._back_off = BackOff()
        self._started_at = 0.0
        self._changed = threading.Condition()
        self._version = 0
        self._stopping = False
        self._actors = ThreadPoolExecutor(ACTORS, "sql-driver-request")
        self._thread = threading.Thread(target=self._run, name="sql-hosting", daemon=True)

    def start(self) -> None:
        self.files.prepare()
        self._thread.start()

    def stop(self) -> None:
        """Returns when the driver has finished its batches and has ended."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        self._end_driver()
        self._actors.shutdown(wait=True, cancel_futures=True)

    def turn(self, is_host: bool) -> None:
        """Called when this server becomes the host, or is it no longer."""
        with self._changed:
            self._is_host = is_host
            self._version += 1
            self._changed.notify_all()

    def wake(self) -> None:
        """The catalog may have changed."""
        with self._changed:
            self._version += 1
            self._changed.notify_all()

    @property
    def is_running(self) -> bool:
        """Whether there is a driver process."""
        return self._supervision is not None

    @property
    def is_ready(self) -> bool:
        """Whether Spark has started: some application has been seen to run."""
        return any(status["state"] == PipelineState.RUNNING for status in self.statuses.values())

    @property
    def pid(self) -> int | None:
        supervision = self._supervision
        return None if supervision is None else supervision.pid

    def refusal(self, application_id: str) -> str:
        found = self._hosted.get(application_id)
        return "" if found is None else found.refusal

    def metrics_text(self) -> str:
        """The driver's own; empty while it does not answer."""
        client = self._client
        try:
            return "" if client is None else client.metrics_text()
        except (DriverAway, DriverRefused):
            return ""

    def wait_gone(self, application_ids: list[str], timeout_s: float) -> bool:
        """Returns when the driver runs none of these any more."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not any(name in self._hosted for name in application_ids), timeout_s
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
                log.exception("hosting: looking again in %g s", LOOK_EVERY_S)

    def _look(self) -> None:
        if not self._is_host:
            self._end_driver()
            return
        wanted = self._wanted()
        if self._supervision is None and (wanted or not self._settings.is_lazy):
            self._start_driver()
        if not self._catalog.failures:
            # Else a query may be missing only because its command could not be applied here: its state must stay.
            for name in self.files.left_over(wanted):
                self._hosted.setdefault(name, Hosted())
        for name in {*wanted, *self._hosted}:
            self._settle(name, wanted.get(name))

    def _wanted(self) -> Mapping[str, Wanted]:
        """Made again only when something is defined that was not before."""
        definitions = self._catalog.definitions
        if self._made_of is not definitions:
            self._made = self.files.wanted(self._catalog, self._function_paths())
            self._made_of = definitions
        return self._made

    def _settle(self, name: str, wanted: Wanted | None) -> None:
        """Hands one application to an actor, if there is something to do for it."""
        hosted = self._hosted.setdefault(name, Hosted())
        if hosted.is_busy or time.monotonic() < hosted.retry_at:
            return
        action = self._action(name, hosted, wanted)
        if action is not None:
            hosted.is_busy = True
            self._actors.submit(self._act, name, hosted, action)

    def _action(self, name: str, hosted: Hosted, wanted: Wanted | None) -> Callable[[], None] | None:
        client, state = self._client, self.statuses.get(name, {}).get("state")
        if wanted is None:
            return partial(self._remove, name, hosted, client)
        if client is None:
            return None
        if hosted.content is None:
            return partial(self._add, hosted, wanted, client)
        if hosted.content != wanted.content:
            return partial(self._replace, hosted, wanted, client)
        if state == PipelineState.FAILED:
            return partial(self._start_again, name, hosted, client)
        if (
            state is not None
            and (self.statuses[name].get("wanted") == PipelineState.PAUSED) != wanted.is_paused
        ):
            return partial(self._pause, name, wanted, client)
        return None

    def _act(self, name: str, hosted: Hosted, action: Callable[[], None]) -> None:
        try:
            action()
            hosted.refusal = ""
        except DriverAway:
            hosted.retry_at = time.monotonic() + LOOK_EVERY_S
        except DriverRefused as refused:
            hosted.refusal = str(refused)
            wait_ms = hosted.back_off.failed()
            hosted.retry_at = time.monotonic() + wait_ms / 1000
            log.warning("%s: the driver refuses: %s; asking again in %d ms", name, refused, wait_ms)
        except Exception as failure:
            hosted.refusal = f"{type(failure).__name__}: {failure}"
            hosted.retry_at = time.monotonic() + hosted.back_off.failed() / 1000
            log.exception("%s could not be changed", name)
        finally:
            hosted.is_busy = False
            self.wake()

    def _add(self, hosted: Hosted, wanted: Wanted, client: DriverClient) -> None:
        path = self.files.write(wanted)
        status = client.add(path)
        if wanted.is_paused:
            status = client.act(wanted.application_id, "pause")
        self._loaded(hosted, wanted, client)
        self._hear(status)

    def _replace(self, hosted: Hosted, wanted: Wanted, client: DriverClient) -> None:
        """CREATE OR REPLACE: stops the query, and starts it with what the file says now."""
        self.files.write(wanted)
        client.act(wanted.application_id, "stop")
        status = client.act(wanted.application_id, "start")
        if wanted.is_paused:
            status = client.act(wanted.application_id, "pause")
        self._loaded(hosted, wanted, client)
        self._hear(status)

    def _loaded(self, hosted: Hosted, wanted: Wanted, client: DriverClient) -> None:
        with self._changed:
            if self._client is client:
                hosted.content = wanted.content

    def _start_again(self, name: str, hosted: Hosted, client: DriverClient) -> None:
        """A query that has failed for good, as far as the driver can tell: what is missing may be there later."""
        wait_ms = hosted.back_off.failed()
        hosted.retry_at = time.monotonic() + wait_ms / 1000
        self._hear(client.act(name, "start"))

    def _pause(self, name: str, wanted: Wanted, client: DriverClient) -> None:
        self._hear(client.act(name, "pause" if wanted.is_paused else "resume"))

    def _remove(self, name: str, hosted: Hosted, client: DriverClient | None) -> None:
        if hosted.content is not None and client is not None:
            try:
                client.remove(name)
            except DriverRefused as refused:
                if refused.status != 404:
                    raise
        self.files.remove(name)
        remove_leftovers(self._admin, self.files.checkpoints, name, list(self._hosted))
        with self._changed:
            self._hosted.pop(name, None)
            self.statuses = {other: one for other, one in self.statuses.items() if other != name}
            self._changed.notify_all()

    # The driver process

    def _start_driver(self) -> None:
        supervision = Supervision(
            [str(self.files.folder)], self._order, pause_s=self._pause_s, on_exit=self._ended
        )
        self._supervision = supervision
        self._reader = threading.Thread(
            target=self._read, args=(supervision,), name="sql-driver-status", daemon=True
        )
        self._reader.start()

    def _order(self) -> Mapping[str, Any]:
        address = free_address()
        self._client = DriverClient(address)
        self._started_at = time.monotonic()
        settings = self._settings
        client = dict(self._configuration.client)
        servers = client.pop("bootstrap.servers")
        return {
            "settings": {
                "bootstrap_servers": servers,
                "checkpoint_dir": str(self.files.checkpoints),
                "instances": settings.instances,
                "trigger_ms": settings.trigger_ms,
                "dead_letters": not settings.fails_on_bad_records,
                "dead_letter_topic": settings.dead_letter_topic,
                "on_change": "keep",
                "client_settings": client,
            },
            "spark": {"master": settings.spark_master, "conf": _pairs(settings.spark_conf)},
            "http": address,
            "views": False,
            "stays": True,
            "warm": not settings.is_lazy,
            "wanted": {},
        }

    def _read(self, supervision: Supervision) -> None:
        try:
            for status in supervision.statuses():
                self._hear(status)
        except (OSError, ValueError, json.JSONDecodeError):
            log.exception("the driver's status cannot be read")

    def _hear(self, status: Status) -> None:
        name = status["application_id"]
        if not name:
            self.problem = status.get("last_error")
            log.error("the driver process cannot run: %s", self.problem)
            return
        self.problem = None
        before = self.statuses.get(name)
        with self._changed:
            if status["state"] == "removed":
                self.statuses = {other: one for other, one in self.statuses.items() if other != name}
            else:
                self.statuses = {**self.statuses, name: status}
        if status["state"] == PipelineState.RUNNING and (found := self._hosted.get(name)) is not None:
            found.back_off.progressed()
        if before is None or before["state"] != status["state"]:
            self.wake()

    def _pause_s(self, code: int) -> float:
        """The driver is started again whatever it ended with, as long as this server hosts the queries."""
        if time.monotonic() - self._started_at > 60:
            self._back_off.progressed()
        return self._back_off.failed() / 1000

    def _ended(self, code: int) -> None:
        log.warning("the driver process has ended with code %d; starting it again", code)
        self._forget()

    def _forget(self) -> None:
        """A new process knows nothing of what the last one was told."""
        with self._changed:
            self._client = None
            self.statuses = {}
            for hosted in self._hosted.values():
                hosted.content = None
                hosted.retry_at = 0.0
            self._version += 1
            self._changed.notify_all()

    def _end_driver(self) -> None:
        supervision, self._supervision = self._supervision, None
        if supervision is None:
            return
        supervision.stop()
        assert self._reader is not None
        self._reader.join()
        self._forget()


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, _, value in (text.partition("=") for text in texts)}
