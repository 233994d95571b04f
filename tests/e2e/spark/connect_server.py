"""A Spark Connect server on this machine, with two cores for tasks."""

import contextlib
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import pyspark

from compat.server_process import ServerProcess

SPARK_HOME = Path(pyspark.__file__).parent
MAIN = "org.apache.spark.sql.connect.service.SparkConnectServer"


class SparkConnectServer(ServerProcess):
    def __init__(self, folder: Path, jars: Sequence[Path] = ()) -> None:
        super().__init__(folder)
        self._jars = jars

    @property
    def address(self) -> str:
        return f"sc://{self.bootstrap}"

    def command(self) -> list[str]:
        settings = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.ui.enabled": "false",
            "spark.jars": ",".join(map(str, self._jars)),
        }
        # Its Python processes run this interpreter, which has the package; nothing leaves the machine.
        surroundings = [
            f"SPARK_HOME={SPARK_HOME}",
            f"PYSPARK_PYTHON={sys.executable}",
            "SPARK_LOCAL_IP=127.0.0.1",
        ]
        options = ["--class", MAIN, "--master", "local[2]", "--driver-memory", "1g"]
        for key, value in settings.items():
            options += ["--conf", f"{key}={value}"] if value else []
        return ["env", *surroundings, str(SPARK_HOME / "bin" / "spark-submit"), *options, "spark-internal"]

    def is_ready(self) -> bool:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        return False
