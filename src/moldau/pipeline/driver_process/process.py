"""Starts the driver process and reads the lines it writes. The protocol is described in `moldau.pipeline.spark.driver`:
an order as one line of JSON on standard input, a status of an application as one line of JSON on standard output."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, Final

DRIVER_MODULE: Final = "moldau.pipeline.spark.driver"
EXIT_AGAIN: Final = 75
"""Spark's JVM has ended: a new process continues from the checkpoints."""

Status = Mapping[str, Any]


def start_driver(
    paths: Sequence[str], order: Mapping[str, Any], *, module: str = DRIVER_MODULE
) -> "subprocess.Popen[str]":
    """`paths` are application files, or folders of them."""
    driver = subprocess.Popen(  # noqa: S603 our own module
        [sys.executable, "-m", module, *paths],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Ctrl-C reaches only this process, which lets the driver finish its batches.
        start_new_session=True,
    )
    assert driver.stdin is not None
    driver.stdin.write(json.dumps(order) + "\n")
    driver.stdin.close()
    return driver


def statuses(lines: IO[str]) -> Iterator[dict[str, Any]]:
    """The statuses until the process closes its output. Other lines, such as prints of an application, are skipped."""
    for line in lines:
        if line.startswith("{"):
            yield json.loads(line)
