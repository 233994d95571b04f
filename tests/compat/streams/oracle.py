"""Kafka's own TopologyTestDriver as a function: described cases in, what they wrote out.

Owns the jars (fetched once by Maven into the cache, as `pom.xml` says), the compiled Java programs, and the one JVM run
for all cases. Answers are kept in the cache too: they change only with the cases, the program or the jars.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka_jars import MAVEN_TIMEOUT_S, KafkaJarsUnavailable, cached_folder, digest_of

HERE = Path(__file__).parent
POM = HERE / "pom.xml"
PROGRAMS = (HERE / "Oracle.java", HERE / "RealStreams.java")
RUN_TIMEOUT_S = 900


def answers(cases: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What Kafka Streams makes of each case; raises KafkaJarsUnavailable with the reason why it cannot be asked."""
    asked = json.dumps(cases).encode()
    folder = cached_folder(
        "streams-oracle",
        digest_of(asked, *(program.read_bytes() for program in PROGRAMS), POM.read_bytes()),
        lambda into: _ask(asked, into),
    )
    told: list[dict[str, Any]] = json.loads((folder / "answers.json").read_bytes())
    return told


def java_command(program: str, *options: str) -> list[str]:
    """One of the programs, compiled, with its jars; raises KafkaJarsUnavailable."""
    jars = cached_folder("streams-jars", digest_of(POM.read_bytes()), _download)
    classes = cached_folder(
        "streams-oracle-classes",
        digest_of(*(program.read_bytes() for program in PROGRAMS), POM.read_bytes()),
        lambda into: _compile(jars, into),
    )
    command = [_tool("java"), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *options]
    return [*command, "-cp", f"{jars}/*:{classes}", program]


def _ask(asked: bytes, folder: Path) -> None:
    question = folder / "cases.json"
    question.write_bytes(asked)
    # Kafka's driver commits after every record: in memory its files cost nothing, on a disk they cost most of the run.
    shared_memory = Path("/dev/shm")
    roomy = shared_memory if os.access(shared_memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=roomy, ignore_cleanup_errors=True) as scratch:
        command = java_command("Oracle", "-Xmx512m", f"-Djava.io.tmpdir={scratch}")
        command += [str(question), str(folder / "answers.json")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr


def _download(folder: Path) -> None:
    command = [_tool("mvn"), "--batch-mode", "--quiet", "--file", str(POM), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAVEN_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise KafkaJarsUnavailable(f"Maven did not fetch Kafka Streams within {MAVEN_TIMEOUT_S} s") from None
    if done.returncode != 0:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise KafkaJarsUnavailable("Maven could not fetch Kafka Streams: " + "".join(lines[:1]))


def _compile(jars: Path, folder: Path) -> None:
    command = [_tool("javac"), "-nowarn", "-d", str(folder), "-cp", f"{jars}/*", *map(str, PROGRAMS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise KafkaJarsUnavailable(f"{name} is not installed; run tools/install-test-tools")
    return found
