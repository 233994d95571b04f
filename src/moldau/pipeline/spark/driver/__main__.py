"""The driver process: `python -m moldau.pipeline.spark.driver FILE...`, with settings as JSON on standard input.

FILE is a Python file or a folder of them. Writes the status of each application as a line of JSON to standard output.
Exits with EXIT_AGAIN when Spark's JVM has ended: the parent then starts a new process, which continues from the
checkpoints.

With the address of an HTTP API in the order (`http`), the applications are controlled there. For a parent that adds
and removes them all the time: `stays` keeps the process while nothing runs, `warm` starts Spark before the first
application, `views` says whether tables are served.
"""

import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.spark.background import in_background
from moldau.pipeline.spark.driver.app_file import NoApplication, application_files, make_importable
from moldau.pipeline.spark.driver.hosting import RESTING, Host, states
from moldau.pipeline.spark.driver.http.status_http import host_server, serve_in_thread
from moldau.pipeline.spark.session import SparkSettings, start_session

EXIT_REFUSED: Final = 3
EXIT_AGAIN: Final = 75
LOOK_EVERY_S: Final = 0.5
TELL_ALL_EVERY_S: Final = 2.0
"""In between, only changes are written."""
STARTED_BY: Final = os.getppid()
"""Compared with later: process 1 adopts orphans, but in a container it may also be the real parent."""
TOLD_ANYWAY: Final = (
    "moldau.pipeline.spark.application",
    "py4j",
)
"""Loggers of failures that `last_error` reports in fewer words."""


def main() -> int:
    for name in TOLD_ANYWAY:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    order = json.loads(sys.stdin.readline())
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    try:
        host = _host(sys.argv[1:], order)
    except ConfigError as failure:
        tell(application_id="", state=PipelineState.FAILED, last_error=str(failure))
        return EXIT_REFUSED
    teller = Teller(host)
    is_gone = _follow(host, teller, stopping, order)
    if not is_gone:
        host.stop_all()
    teller.tell_all()
    if is_gone:
        return EXIT_AGAIN
    return EXIT_REFUSED if PipelineState.FAILED in states(host.all()) else 0


def _host(paths: Sequence[str], order: Mapping[str, Any]) -> Host:
    """Raises ConfigError for settings that no application can run with."""
    folders = [Path(path) for path in paths if Path(path).is_dir()]
    spark = SparkSettings(**order["spark"])
    with_views = bool(order.get("http")) and order.get("views", True)
    host = Host(order["settings"], spark, folders, with_views=with_views)
    files = application_files(paths)
    for path in [*(Path(file).parent for file, _ in files), *folders]:
        # Spark's workers get the module path when the session starts.
        make_importable(path.resolve())
    if order.get("http"):
        serve_in_thread(host_server(host), order["http"])
    if order.get("warm"):
        in_background(partial(start_session, spark), "warming-spark")
    wanted: Mapping[str, str] | None = order.get("wanted")
    if wanted is not None:
        files = [(file, True) for file in wanted]
    for file, was_named in files:
        try:
            host.add(file, PipelineState((wanted or {}).get(file, PipelineState.RUNNING)))
        except NoApplication as failure:
            if was_named:
                host.add_refused(file, str(failure))
        except ConfigError as failure:
            host.add_refused(file, str(failure))
    if not host.all() and not (order.get("http") and host.takes_more):
        raise ConfigError(
            f"there is no application in {', '.join(paths)}: a file that defines one has a StreamsBuilder named "
            "`builder`, or a function `build()` that returns one"
        )
    return host


def _follow(host: Host, teller: "Teller", stopping: threading.Event, order: Mapping[str, Any]) -> bool:
    """Returns when nothing runs any more: True if Spark's JVM has ended."""
    while True:
        if not teller.tell_changes():
            return False
        if any(one.app is not None and one.app.spark_is_gone for one in host.all()):
            return True
        if stopping.wait(LOOK_EVERY_S):
            return False
        if not order.get("stays") and _is_over(host, is_served=bool(order.get("http"))):
            return False


def _is_over(host: Host, *, is_served: bool) -> bool:
    """With HTTP, the process waits for stopped applications, which can be started again, but not for failed ones."""
    now = states(host.all())
    if is_served:
        can_go_on = [state for state in now if state is not PipelineState.FAILED]
        return not can_go_on and not (host.takes_more and not now)
    return all(state in RESTING for state in now)


class Teller:
    """Writes changes at once, and every status now and then."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._told: dict[str, dict[str, Any]] = {}
        self._told_all_at = -TELL_ALL_EVERY_S

    def tell_changes(self) -> bool:
        """False if nobody reads the output: the parent has ended."""
        if time.monotonic() - self._told_all_at >= TELL_ALL_EVERY_S:
            return self.tell_all()
        return self._tell(only_changes=True)

    def tell_all(self) -> bool:
        self._told_all_at = time.monotonic()
        return self._tell(only_changes=False)

    def _tell(self, *, only_changes: bool) -> bool:
        before, now = self._told, {hosted.name: hosted.status() for hosted in self._host.all()}
        self._told = now
        lines = [
            {"application_id": name, "file": before[name]["file"], "state": "removed"}
            for name in before.keys() - now.keys()
        ]
        lines += [
            {**status, "hosted": len(now)}
            for name, status in now.items()
            if not only_changes or status != before.get(name)
        ]
        heard = [tell(**line) for line in lines]
        return all(heard) and os.getppid() == STARTED_BY


def tell(**what: Any) -> bool:
    """False if nobody reads the output."""
    try:
        sys.stdout.write(json.dumps(what) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        return False
    return True


if __name__ == "__main__":
    code = main()
    # Threads that wait for an ended JVM may hang, and nothing is left to do.
    os._exit(code)
