"""Kafka Connect's own classes as a function: described cases in, what became of them out.

Owns the jars (fetched once by Maven into the cache, as `pom.xml` says), the compiled program, and the one JVM run for
all cases. Answers are kept in the cache too: they change only with the cases, the program or the jars.
"""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka_jars import MAVEN_TIMEOUT_S, KafkaJarsUnavailable, cached_folder, digest_of

HERE = Path(__file__).parent
POM = HERE / "pom.xml"
PROGRAMS = (HERE / "Oracle.java", HERE / "Forms.java")
RUN_TIMEOUT_S = 600


def answers(cases: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What Kafka Connect makes of each case; raises KafkaJarsUnavailable with the reason why it cannot be asked."""
    asked = json.dumps(cases).encode()
    digest = digest_of(asked, *(program.read_bytes() for program in PROGRAMS), POM.read_bytes())
    folder = cached_folder("connect-oracle", digest, lambda into: _ask(asked, into))
    told: list[dict[str, Any]] = json.loads((folder / "answers.json").read_bytes())
    return told


def _ask(asked: bytes, folder: Path) -> None:
    jars = cached_folder("connect-jars", digest_of(POM.read_bytes()), _download)
    classes = cached_folder(
        "connect-oracle-classes",
        digest_of(*(program.read_bytes() for program in PROGRAMS), POM.read_bytes()),
        lambda into: compile_programs(PROGRAMS, f"{jars}/*", into),
    )
    question = folder / "cases.json"
    question.write_bytes(asked)
    run_java("Oracle", f"{jars}/*:{classes}", question, folder / "answers.json")


def run_java(program: str, classpath: str, *arguments: Path) -> None:
    command = [tool("java"), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m", "-Duser.language=en"]
    command += ["-cp", classpath, program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr


def compile_programs(programs: Sequence[Path], classpath: str, folder: Path) -> None:
    command = [tool("javac"), "-nowarn", "-d", str(folder), "-cp", classpath, *map(str, programs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _download(folder: Path) -> None:
    command = [tool("mvn"), "--batch-mode", "--quiet", "--file", str(POM), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAVEN_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise KafkaJarsUnavailable(f"Maven did not fetch Kafka Connect within {MAVEN_TIMEOUT_S} s") from None
    if done.returncode != 0:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise KafkaJarsUnavailable("Maven could not fetch Kafka Connect: " + "".join(lines[:1]))


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise KafkaJarsUnavailable(f"{name} is not installed; run tools/install-test-tools")
    return found
