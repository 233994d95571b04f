"""Apache Kafka's jars, fetched once by Maven into a cache outside the repository.

Owns where the jars and what is built from them live, and the reason when they cannot be had. Which versions
is said in `compat/java/pom.xml` alone; where they come from is Maven's configuration.
"""

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

POM = Path(__file__).parent / "compat" / "java" / "pom.xml"
MAVEN_TIMEOUT_S = 600


class KafkaJarsUnavailable(Exception):
    """Says why; tests skip with this text."""


def kafka_jars() -> list[Path]:
    """Every jar of a Kafka broker, its clients and tools; raises KafkaJarsUnavailable with the reason."""
    jars, reason = _resolve()
    if reason:
        raise KafkaJarsUnavailable(reason)
    return jars


def cached_folder(kind: str, digest: str, fill: Callable[[Path], None]) -> Path:
    """The folder `kind/digest` of the cache, made by `fill` the first time.

    Test processes may come here at once: one fills, the others wait, and a folder that exists is whole.
    """
    folder = _cache_root() / kind / digest
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock(folder.with_suffix(".lock")):
        if not folder.is_dir():
            filling = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f"{digest}.filling-"))
            try:
                fill(filling)
                filling.rename(folder)
            finally:
                shutil.rmtree(filling, ignore_errors=True)
    return folder


def digest_of(*contents: bytes) -> str:
    return hashlib.sha256(b"\0".join(contents)).hexdigest()[:16]


@functools.cache
def _resolve() -> tuple[list[Path], str]:
    """The jars, or the reason why not: kept either way, so that a missing network costs its wait once."""
    override = os.environ.get("MOLDAU_KAFKA_JARS")
    try:
        folder = Path(override or cached_folder("jars", digest_of(POM.read_bytes()), _download))
    except KafkaJarsUnavailable as failure:
        return [], str(failure)
    jars = sorted(folder.glob("*.jar"))
    return jars, "" if jars else f"no jar in {folder}, the folder that MOLDAU_KAFKA_JARS names"


def _download(folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise KafkaJarsUnavailable("Maven (mvn) is not installed; run tools/install-test-tools")
    command = [maven, "--batch-mode", "--quiet", "--file", str(POM), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAVEN_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise KafkaJarsUnavailable(f"Maven did not fetch Kafka's jars within {MAVEN_TIMEOUT_S} s") from None
    if done.returncode != 0:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise KafkaJarsUnavailable("Maven could not fetch Kafka's jars: " + "".join(lines[:1]))


def _cache_root() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "moldau"


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
