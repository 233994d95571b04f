"""The process of one application: `python -m moldau.pipeline.spark.driver FILE`, settings as JSON on standard input.

Tells its state and measurements as lines of JSON on standard output. Whoever started it starts it again when it ends
with EXIT_AGAIN: the JVM is gone, and with it all that Spark had in memory; the checkpoint has the rest.
"""

import json
import logging
import os
import signal
import sys
import threading
from dataclasses import asdict
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.spark.app_file import load_application
from moldau.pipeline.spark.application import PipelineApp
from moldau.pipeline.spark.session import SparkSettings
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.spark.status_http import application_server, serve_in_thread
from moldau.pipeline.views.view_host import ViewHost

EXIT_REFUSED: Final = 3
EXIT_AGAIN: Final = 75
TELL_EVERY_S: Final = 0.5
STARTED_BY: Final = os.getppid()
"""Process 1 is an orphan's new parent, but in a container also who may have started us."""
TOLD_ANYWAY: Final = ("moldau.pipeline.spark.application", "py4j")
"""Loggers of failures that `last_error` has, in fewer words."""


def main() -> int:
    for name in TOLD_ANYWAY:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    order = json.loads(sys.stdin.readline())
    try:
        topology = load_application(sys.argv[1])
        settings = AppSettings(topology.application_id, **order["settings"])
        app = PipelineApp(topology, settings, SparkSettings(**order["spark"]))
    except ConfigError as failure:
        tell(state=PipelineState.FAILED, last_error=str(failure))
        return EXIT_REFUSED
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    views = ViewHost(
        topology,
        settings.application_id,
        {**settings.client_settings, "bootstrap.servers": settings.bootstrap_servers},
    )
    if order.get("http"):
        views.start()
        serve_in_thread(application_server(app, views), order["http"])
    app.start()
    ends = (PipelineState.STOPPED, PipelineState.FAILED)
    while app.state not in ends and not stopping.wait(TELL_EVERY_S):
        if not tell(application_id=settings.application_id, **asdict(app.metrics)):
            break
    if app.state not in ends:
        app.stop()
    tell(application_id=settings.application_id, **asdict(app.metrics))
    if app.state is PipelineState.STOPPED:
        return 0
    return EXIT_AGAIN if app.spark_is_gone else EXIT_REFUSED


def tell(**what: Any) -> bool:
    """False when nobody listens: whoever started us is gone."""
    try:
        sys.stdout.write(json.dumps(what) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        return False
    return os.getppid() == STARTED_BY


if __name__ == "__main__":
    code = main()
    # Threads of a JVM that is gone may hang; nothing is left to be done.
    os._exit(code)
