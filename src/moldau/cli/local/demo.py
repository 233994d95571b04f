"""The demo of `moldau up --demo`: a page view generator and a Streams application, each a process of its own."""

import contextlib
import json
import socket
import subprocess
import sys
import threading
from importlib.resources import files
from typing import Final

import click

from moldau.cli.local.services import pasteable
from moldau.core.errors import ConfigError
from moldau.pipeline.driver_process.process import DRIVER_MODULE

HTTP_PORT: Final = 8084
STOP_S: Final = 60.0

TO_TRY: Final = """
The pipeline is running. Try it in a second terminal:
  {moldau} consume pageviews-enriched{at}
  curl http://{http}/views/views-per-page/windows/home
  {moldau} explain group demo{at}
"""


class Demo:
    """`start` returns at once. The progress of Spark is printed when it changes."""

    def __init__(self, servers: str, directory: str) -> None:
        self._servers = servers
        self._directory = directory
        self._processes: list[subprocess.Popen[str]] = []
        self._http = f"127.0.0.1:{_free_port(HTTP_PORT)}"
        self._is_told = False

    def start(self) -> None:
        from moldau.pipeline.spark.session import require_spark

        try:
            require_spark()
        except ConfigError as missing:
            click.echo(f"pipeline  off: {missing}")
            return
        click.echo("pipeline  Spark is starting; broker and registry are ready")
        generator = "moldau.pipeline.spark.demo.page_views"
        self._processes.append(self._python("-m", generator, self._servers))
        # The application needs the topics of the generator.
        subprocess.run([sys.executable, "-c", _MAKE_TOPICS, self._servers], check=True)  # noqa: S603 our own
        app = str(files("moldau.pipeline.spark.demo") / "app.py")
        driver = self._python("-m", DRIVER_MODULE, app)
        self._processes.append(driver)
        assert driver.stdin is not None
        driver.stdin.write(json.dumps(self._order()) + "\n")
        driver.stdin.close()
        threading.Thread(target=self._follow, args=(driver,), daemon=True).start()

    def stop(self) -> None:
        for process in reversed(self._processes):
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        for process in reversed(self._processes):
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()

    def _order(self) -> dict[str, object]:
        settings = {
            "bootstrap_servers": self._servers,
            # Beside the data directory, in which a broker expects only partitions.
            "checkpoint_dir": f"{self._directory.rstrip('/')}-checkpoints",
            "instances": 1,
            "trigger_ms": 500,
        }
        return {"settings": settings, "spark": {"master": "local[2]"}, "http": self._http}

    def _python(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(  # noqa: S603 our own modules
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def _follow(self, driver: "subprocess.Popen[str]") -> None:
        assert driver.stdout is not None
        state = ""
        for line in driver.stdout:
            if not line.startswith("{"):
                continue
            status = json.loads(line)
            if status["state"] != state:
                state = status["state"]
                click.echo(
                    f"pipeline  {state}{': ' + status['last_error'] if status.get('last_error') else ''}"
                )
            if not self._is_told and status.get("records_out"):
                self._is_told = True
                click.echo(pasteable(TO_TRY, self._servers, http=self._http))


def _free_port(wanted: int) -> int:
    """The preferred port, or any free port if it is in use."""
    for port in (wanted, 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise ConfigError("no port of this machine is free")


_MAKE_TOPICS: Final = (
    "import sys; from moldau.pipeline.spark.demo.page_views import *; create_topics(sys.argv[1])"
)
