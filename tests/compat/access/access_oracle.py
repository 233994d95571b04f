"""Kafka's StandardAuthorizer as a function: worlds of rules and questions in, its answers and its log out.

Answers are kept in the cache: they change only with the worlds, the program or Kafka's jars.
"""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from access_kit import SUPER_USERS, World
from compat.apache_kafka import java_command
from kafka_jars import KafkaJarsUnavailable, cached_folder, digest_of, kafka_jars

PROGRAM = Path(__file__).parent / "AccessOracle.java"
RUN_TIMEOUT_S = 600
LOGGER = "kafka.authorizer.logger"


class Told(NamedTuple):
    answers: list[list[bool]]
    log: list[str]
    """A line for each decision about one resource, and for each search for some resource."""


def ask_kafka(worlds: Sequence[World]) -> Told:
    """Raises KafkaJarsUnavailable with the reason why Kafka cannot be asked."""
    asked = json.dumps([_described(world) for world in worlds]).encode()
    jars = [jar.name.encode() for jar in kafka_jars()]
    digest = digest_of(asked, PROGRAM.read_bytes(), *jars)
    folder = cached_folder("access-oracle", digest, lambda into: _ask(asked, into))
    log = (folder / "authorizer.log").read_text().splitlines()
    marker = f"{LOGGER} - "
    return Told(
        json.loads((folder / "answers.json").read_bytes()),
        [line.split(marker, 1)[1] for line in log if marker in line],
    )


def _described(world: World) -> dict[str, object]:
    return {
        "super_users": ";".join(sorted(SUPER_USERS)),
        "allows_without_rules": world.allows_without_rules,
        "rules": [list(rule) for rule in world.rules],
        "questions": [
            [each.caller.principal, each.caller.host, each.operation, each.kind, each.name]
            for each in world.questions
        ],
    }


def _ask(asked: bytes, folder: Path) -> None:
    question = folder / "worlds.json"
    question.write_bytes(asked)
    compiler = shutil.which("javac")
    if compiler is None:
        raise KafkaJarsUnavailable("the Java compiler (javac) is not installed; run tools/install-test-tools")
    places = ":".join(str(jar) for jar in kafka_jars())
    _run([compiler, "-nowarn", "-d", str(folder), "-cp", places, str(PROGRAM)])
    options = [
        "-Xmx256m",
        f"-Dorg.slf4j.simpleLogger.logFile={folder / 'authorizer.log'}",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
        f"-Dorg.slf4j.simpleLogger.log.{LOGGER}=trace",
    ]
    command = java_command(*options, classpath=[folder])
    _run([*command, "AccessOracle", str(question), str(folder / "answers.json")])


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
