"""A Spark standalone cluster on this machine: a master and workers of one core each, in processes of their own."""

import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import pyspark

from compat.server_process import free_port
from e2e.spark.kit import PATIENCE_S, wait_for

SPARK_HOME = Path(pyspark.__file__).parent


class StandaloneCluster:
    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder = folder
        self._workers = workers
        self._port = free_port()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._logs: list[IO[bytes]] = []

    @property
    def master(self) -> str:
        return f"spark://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._launch(
            "master", "org.apache.spark.deploy.master.Master", "--port", str(self._port), "--webui-port", "0"
        )
        wait_for(lambda: "Starting Spark master" in self._log("master"), "the master serves")
        for number in range(self._workers):
            folder = str(self._folder / f"work-{number}")
            options = [
                "--cores",
                "1",
                "--memory",
                "1g",
                "--work-dir",
                folder,
                "--webui-port",
                "0",
                self.master,
            ]
            self._launch(f"worker-{number}", "org.apache.spark.deploy.worker.Worker", *options)
        wait_for(
            lambda: self._log("master").count("Registering worker") >= self._workers, "workers are there"
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in reversed(self._processes):
            process.wait(PATIENCE_S)
        for log in self._logs:
            log.close()

    def _launch(self, name: str, main: str, *options: str) -> None:
        environment = {
            **os.environ,
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOG_DIR": str(self._folder),
        }
        log = (self._folder / f"{name}.log").open("wb")
        self._logs.append(log)
        command = [str(SPARK_HOME / "bin" / "spark-class"), main, "--host", "127.0.0.1", *options]
        # The default log level tells when they are up.
        self._processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment))

    def _log(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text(errors="replace")
