"""Spark's connectors for Kafka, Avro and Protobuf: jars by Maven coordinates that match the installed pyspark.

Fetched once by Maven, wherever its own settings point, into a cache of the user; or taken from a folder kept by hand.
Only Real-Time Mode needs them: the usual way of a pipeline reads and writes Kafka without the JVM.
"""

import fcntl
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from moldau.core.errors import ConfigError

ARTIFACTS: Final = ("spark-sql-kafka-0-10", "spark-avro", "spark-protobuf")
SCALA: Final = "2.13"
FETCH_S_MAX: Final = 900
FOLDER_VARIABLE: Final = "MOLDAU_SPARK_JARS"


def connector_jars(folder: str | None = None) -> list[Path]:
    """Raises ConfigError, with the way out, when they cannot be had."""
    folder = folder or os.environ.get(FOLDER_VARIABLE)
    if folder:
        jars = sorted(Path(folder).glob("*.jar"))
        if not any(jar.name.startswith(ARTIFACTS[0]) for jar in jars):
            raise ConfigError(
                f"the folder {folder} holds no {ARTIFACTS[0]} jar: put {_list()} there, with what they need"
            )
        return jars
    return sorted(_fetched().glob("*.jar"))


def coordinates() -> list[str]:
    """Of the pyspark that is installed: another version's connector may load and fail later."""
    version = importlib.metadata.version("pyspark")
    return [f"org.apache.spark:{name}_{SCALA}:{version}" for name in ARTIFACTS]


def _fetched() -> Path:
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "moldau" / "spark-jars"
    folder = root / hashlib.sha256(_list().encode()).hexdigest()[:16]
    root.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            filling = Path(tempfile.mkdtemp(dir=root))
            try:
                _fetch(filling)
                filling.rename(folder)
            finally:
                shutil.rmtree(filling, ignore_errors=True)
    return folder


def _fetch(folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise ConfigError(
            f"{_list()} are needed and Maven (mvn) is not installed to fetch them. {_way_out()}"
        )
    with tempfile.TemporaryDirectory() as work:
        pom = Path(work, "pom.xml")
        pom.write_text(_pom())
        command = [maven, "--batch-mode", "--quiet", "--file", str(pom), "dependency:copy-dependencies"]
        command += ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_S_MAX, check=False)  # noqa: S603
        except subprocess.TimeoutExpired:
            raise ConfigError(f"Maven did not fetch {_list()} within {FETCH_S_MAX} s. {_way_out()}") from None
    if done.returncode != 0:
        said = next(
            (line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line), "no reason given"
        )
        raise ConfigError(f"Maven could not fetch {_list()}: {said[:400]}. {_way_out()}")


def _pom() -> str:
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version></dependency>"
        for group, name, version in (one.split(":") for one in coordinates())
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>moldau</groupId><artifactId>connectors</artifactId>"
        f"<version>1</version><dependencies>{dependencies}</dependencies></project>"
    )


def _list() -> str:
    return ", ".join(coordinates())


def _way_out() -> str:
    return (
        "Without a network: put these jars and what they depend on into a folder and name it in "
        f"{FOLDER_VARIABLE}, or leave latency at micro_batch, which needs none of them"
    )
