"""Starts Spark as pipelines need it, locally unless a master is named. Owns the session of the process."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.real_time.connectors import CONNECTOR, connector_jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONNECT_SCHEME: Final = "sc://"
THREAD_STACK: Final = "-Xss8m"
"""Spark walks the plans of long pipelines recursively."""


PER_SESSION: Final = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # Keeps the format of the offset log.
    "spark.sql.streaming.offsetLog.formatVersion": "1",
}


@dataclass(frozen=True)
class SparkSettings:
    """`master` is any master of Spark, or the `sc://` address of a Spark Connect server (`spark.remote` in `conf` does
    the same). `conf` has Spark's own settings and overrides ours. `jars_folder`: a folder with the connector's jars."""

    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)
    with_connectors: bool = False
    jars_folder: str | None = None

    @property
    def remote(self) -> str | None:
        """The address of a Spark Connect server."""
        named = self.conf.get("spark.remote") or self.master
        return named if named.startswith(CONNECT_SCHEME) else None

    def __post_init__(self) -> None:
        named = self.conf.get("spark.remote")
        if named is not None and not named.startswith(CONNECT_SCHEME):
            raise ConfigError(
                f"spark.remote is {named!r}, but must be the address of a Spark Connect server: "
                f"{CONNECT_SCHEME}host:15002. For a cluster without one, give its master"
            )


def start_session(settings: SparkSettings | None = None) -> "SparkSession":
    """The session of this process. A second call returns the same session."""
    settings = settings or SparkSettings()
    require_spark()
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        if settings.with_connectors and CONNECTOR not in (running.conf.get("spark.jars", "") or ""):
            raise ConfigError(
                "latency real_time needs Spark's Kafka connector, and the session of this process was started without "
                "it: start it with SparkSettings(with_connectors=True)"
            )
        return running
    # Workers must run the interpreter that has this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    # Workers must find the modules beside the user's file.
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(path for path in sys.path if path))
    builder = SparkSession.Builder().master(settings.master).appName("moldau")
    for key, value in {**_ours(settings), **settings.conf}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def require_pyspark() -> None:
    if importlib.util.find_spec("pyspark") is None:
        raise ConfigError("pipelines run on Spark, which is not installed: pip install 'moldau[spark]'")


def require_spark() -> None:
    """Raises ConfigError for what is missing here to start a driver, in clearer words than Spark's."""
    require_pyspark()
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else None
    if not (java and java.exists()) and shutil.which("java") is None:
        raise ConfigError(
            "pipelines run on Spark, which needs Java 17 or newer, and there is no java on the PATH: "
            "install a JRE (Debian: apt install default-jre-headless) or set JAVA_HOME"
        )


def _ours(settings: SparkSettings) -> dict[str, str]:
    log_settings = files("moldau.pipeline.spark") / "log4j2.properties"
    java_options = f"{THREAD_STACK} -Dlog4j2.configurationFile={log_settings}"
    ours = {
        **PER_SESSION,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # No checksum files in the checkpoint: Hadoop starts a process (chmod) for each file.
        "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
        "spark.python.worker.reuse": "true",
        # Between driver, workers and JVM. The default of 15 s is too short on a busy machine.
        "spark.python.authenticate.socketTimeout": "300s",
        "spark.driver.extraJavaOptions": java_options,
        "spark.executor.extraJavaOptions": THREAD_STACK,
        "spark.driver.host": "127.0.0.1" if settings.master.startswith("local") else "",
        # Nobody reads the status of a batch's jobs.
        "spark.ui.retainedJobs": "10",
        "spark.ui.retainedStages": "10",
        "spark.ui.retainedTasks": "100",
        "spark.sql.ui.retainedExecutions": "1",
    }
    if settings.with_connectors:
        jars = connector_jars(settings.jars_folder)
        ours["spark.jars"] = ",".join(str(jar) for jar in jars)
    return {key: value for key, value in ours.items() if value}
