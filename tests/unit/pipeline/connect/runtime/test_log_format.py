"""The processes that Spark starts write their log as the worker does: with time, level and logger."""

import re
import subprocess
import sys

PROGRAM = """
import threading

from moldau.pipeline.connect.runtime.plan import ConnectorPlan
from moldau.pipeline.spark.connectors import connector_app
from moldau.pipeline.spark.connectors.shifts import Shifts
from moldau.pipeline.spark.connectors.worker.shift import run_shift

plan = ConnectorPlan(
    name="lines",
    worker_group="workers",
    kind="source",
    connector_class="nowhere:LinesConnector",
    config={},
    providers={},
    tasks={0: {}},
    bootstrap_servers="127.0.0.1:9",
    clients={},
    offsets_topic="connect-offsets",
    generation=0,
)
app = connector_app.ConnectorApp(plan, open_shifts=lambda spark: Shifts(1, lambda lane, order: run_shift(order)))
app.start()
while not any(task["state"] == "FAILED" for task in app.status()["tasks"]):
    threading.Event().wait(0.05)
app.stop()
"""
WORKER = """
import logging

from moldau.pipeline.spark.connectors.task_orders import ShiftOrder
from moldau.pipeline.spark.connectors.worker.shift import run_shift

run_shift(ShiftOrder((), 0.0))
logging.getLogger("moldau.pipeline.connect.connectors").info("a connector says")
logging.getLogger("some.library").warning("a library says")
logging.getLogger("some.library").info("not said")
"""
LINE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} "


def said_by(program: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=180, check=True
    )
    return ended.stderr


def test_the_driver_process() -> None:
    said = said_by(PROGRAM)
    logger = r"moldau\.pipeline\.spark\.connectors\.connector_app"
    assert re.search(rf"^{LINE}WARNING {logger}: the task lines-0 failed: ", said, re.MULTILINE), said


def test_a_worker_of_spark() -> None:
    said = said_by(WORKER)
    assert re.search(
        rf"^{LINE}INFO moldau\.pipeline\.connect\.connectors: a connector says$", said, re.MULTILINE
    )
    assert re.search(rf"^{LINE}WARNING some\.library: a library says$", said, re.MULTILINE)
    assert "not said" not in said
