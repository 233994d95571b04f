"""Keeps a driver process at what its server wants: starts it, adds, replaces, pauses and removes its applications.

A thread reads the driver's status lines. Another compares, whenever something may have changed, what is wanted with
what runs, and sends the driver what is missing: each application on its own, so that a slow one holds up no other.
"""

import json
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from moldau.pipeline.driver_process.application_folder import ApplicationFolder, Wanted
from moldau.pipeline.driver_process.client import DriverAway, DriverClient, DriverRefused, free_address
from moldau.pipeline.driver_process.process import Status
from moldau.pipeline.driver_process.supervision import Supervision
from moldau.pipeline.lifecycle import BackOff, PipelineState

LOOK_EVERY_S: Final = 1.0
ACTORS: Final = 4
"""How many applications are changed at a time."""
SETTLED_S: Final = 60.0
"""A driver process that has run this long had a good start."""


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


class DriverHost(ABC):
    """A server derives its own, which says what shall run."""

    def __init__(self, files: ApplicationFolder, *, name: str, log: logging.Logger) -> None:
        """`name` is the prefix of the names of threads."""
        self.files = files
        self._name = name
        self._log = log
        self._is_host = False
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
        self._actors = ThreadPoolExecutor(ACTORS, f"{name}-driver-request")
        self._thread = threading.Thread(target=self._run, name=f"{name}-hosting", daemon=True)

    # What the server says

    @abstractmethod
    def wanted(self) -> Mapping[str, Wanted]:
        """What shall run, by application id. Asked each second and after each `wake`."""

    @abstractmethod
    def order(self) -> Mapping[str, Any]:
        """Settings for a new driver process; see `moldau.pipeline.spark.driver`."""

    def starts_alone(self) -> bool:
        """Whether the driver process is started before anything is wanted."""
        return False

    def may_clean(self) -> bool:
        """Whether everything that is not wanted has ended, so that files of it may go."""
        return True

    def removed(self, application_id: str, others: Collection[str]) -> None:  # noqa: B027
        """The application has ended for good: removes what it leaves behind."""

    def heard(self, application_id: str) -> None:  # noqa: B027
        """There is a new status of the application."""

    # What the server asks

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
        """Something else may be wanted."""
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

    def wait_gone(self, application_ids: Collection[str], timeout_s: float) -> bool:
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
            except Exception:  # noqa: BLE001 the next look may do better
                self._log.exception("hosting: looking again in %g s", LOOK_EVERY_S)

    def _look(self) -> None:
        if not self._is_host:
            self._end_driver()
            return
        wanted = self.wanted()
        if self._supervision is None and (wanted or self.starts_alone()):
            self._start_driver()
        if self.may_clean():
            for name in self.files.left_over(wanted):
                self._hosted.setdefault(name, Hosted())
        for name in {*wanted, *self._hosted}:
            self._settle(name, wanted.get(name))

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
            self._log.warning("%s: the driver refuses: %s; asking again in %d ms", name, refused, wait_ms)
        except Exception as failure:  # noqa: BLE001 one application; the others go on
            hosted.refusal = f"{type(failure).__name__}: {failure}"
            hosted.retry_at = time.monotonic() + hosted.back_off.failed() / 1000
            self._log.exception("%s could not be changed", name)
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
        """Stops the application, and starts it with what the file says now, unless it can change while it runs."""
        self.files.write(wanted)
        if wanted.reloads:
            status = client.act(wanted.application_id, "reload")
        else:
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
        """It has failed for good, as far as the driver can tell: what is missing may be there later."""
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
        self.removed(name, list(self._hosted))
        with self._changed:
            self._hosted.pop(name, None)
            self.statuses = {other: one for other, one in self.statuses.items() if other != name}
            self._changed.notify_all()
        self.heard(name)

    # The driver process

    def _start_driver(self) -> None:
        supervision = Supervision(
            [str(self.files.folder)], self._ordered, pause_s=self._pause_s, on_exit=self._ended
        )
        self._supervision = supervision
        self._reader = threading.Thread(
            target=self._read, args=(supervision,), name=f"{self._name}-driver-status", daemon=True
        )
        self._reader.start()

    def _ordered(self) -> Mapping[str, Any]:
        address = free_address()
        self._client = DriverClient(address)
        self._started_at = time.monotonic()
        return {"http": address, "views": False, "stays": True, "wanted": {}, **self.order()}

    def _read(self, supervision: Supervision) -> None:
        try:
            for status in supervision.statuses():
                self._hear(status)
        except (OSError, ValueError, json.JSONDecodeError):
            self._log.exception("the driver's status cannot be read")

    def _hear(self, status: Status) -> None:
        name = status["application_id"]
        if not name:
            self.problem = status.get("last_error")
            self._log.error("the driver process cannot run: %s", self.problem)
            self.heard("")
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
        self.heard(name)

    def _pause_s(self, code: int) -> float:
        """The driver is started again whatever it ended with, as long as this server is the host."""
        if time.monotonic() - self._started_at > SETTLED_S:
            self._back_off.progressed()
        return self._back_off.failed() / 1000

    def _ended(self, code: int) -> None:
        self._log.warning("the driver process has ended with code %d; starting it again", code)
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


def pairs(texts: tuple[str, ...]) -> dict[str, str]:
    """Settings of Spark, each as NAME=VALUE."""
    return {name: value for name, _, value in (text.partition("=") for text in texts)}
