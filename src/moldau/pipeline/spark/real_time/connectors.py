"""Spark's Kafka connector: the jars that match the installed pyspark.

Maven fetches them once, from the repositories of its own settings, into a cache of the user. Or they are in a folder
that the user names. Only Real-Time Mode needs them: micro-batches read and write Kafka without the JVM.
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

SCALA: Final = "2.13"
CONNECTOR: Final = f"spark-sql-kafka-0-10_{SCALA}"
TOKENS: Final = f"spark-token-provider-kafka-0-10_{SCALA}"
OLD_TOKENS_VERSION: Final = "4.0.0"
"""The connector loads its delegation tokens for Kerberos in any case. Where a repository lacks them in the connector's
version, this version has the same interface."""
WANTED: Final = (CONNECTOR, TOKENS, "kafka-clients", "commons-pool2")
"""What pyspark does not include."""
FETCH_S_MAX: Final = 900
FOLDER_VARIABLE: Final = "MOLDAU_SPARK_JARS"


def connector_jars(folder: str | None = None) -> list[Path]:
    """Raises ConfigError with a remedy if the jars cannot be had."""
    folder = folder or os.environ.get(FOLDER_VARIABLE)
    jars = sorted(Path(folder).glob("*.jar")) if folder else sorted(_fetched().glob("*.jar"))
    missing = [name for name in WANTED if not any(jar.name.startswith(f"{name}-") for jar in jars)]
    if missing:
        raise ConfigError(f"the folder {folder or _cache()} holds no {missing[0]} jar. {_way_out()}")
    return jars


def coordinates() -> str:
    """For the installed pyspark: a connector of another version may load and fail later."""
    return f"org.apache.spark:{CONNECTOR}:{importlib.metadata.version('pyspark')}"


def _cache() -> Path:
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "moldau" / "spark-jars"
    return root / hashlib.sha256(coordinates().encode()).hexdigest()[:16]


def _fetched() -> Path:
    folder = _cache()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            filling = Path(tempfile.mkdtemp(dir=folder.parent))
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
            f"{coordinates()} is needed and Maven (mvn) is not installed to fetch it. {_way_out()}"
        )
    version = importlib.metadata.version("pyspark")
    refused = _refused(maven, folder, version)
    if refused is not None and _refused(maven, folder, OLD_TOKENS_VERSION) is not None:
        raise ConfigError(f"Maven could not fetch {coordinates()}: {refused[:400]}. {_way_out()}")


def _refused(maven: str, folder: Path, tokens_version: str) -> str | None:
    """Maven's error message. None if the jars were fetched."""
    with tempfile.TemporaryDirectory() as work:
        pom = Path(work, "pom.xml")
        pom.write_text(_pom(tokens_version))
        command = [maven, "--batch-mode", "--quiet", "--file", str(pom), "dependency:copy-dependencies"]
        command += ["-DincludeScope=runtime", f"-DincludeArtifactIds={','.join(WANTED)}"]
        command.append(f"-DoutputDirectory={folder}")
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_S_MAX, check=False)  # noqa: S603
        except subprocess.TimeoutExpired:
            return f"it did not answer within {FETCH_S_MAX} s"
    if done.returncode == 0:
        return None
    return next(
        (line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line), "no reason given"
    )


def _pom(tokens_version: str) -> str:
    group, name, version = coordinates().split(":")
    # Excluded from the connector's dependencies: otherwise Maven would still look for the version that they name.
    tokens = f"<groupId>{group}</groupId><artifactId>{TOKENS}</artifactId>"
    without = f"<exclusions><exclusion>{tokens}</exclusion></exclusions>"
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{one}</version>{more}</dependency>"
        for artifact, one, more in ((name, version, without), (TOKENS, tokens_version, ""))
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>moldau</groupId><artifactId>connectors</artifactId>"
        f"<version>1</version><dependencies>{dependencies}</dependencies></project>"
    )


def _way_out() -> str:
    return (
        f"Without a network: put the jars of {', '.join(WANTED)} into a folder and name it in "
        f"{FOLDER_VARIABLE}, or leave latency at micro_batch, which needs none of them"
    )
