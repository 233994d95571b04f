"""kcat, the command-line client (librdkafka 2.0 in Debian 12).

It has no admin interface and sets no timestamps. Its input is text with delimiters, so keys and values here
must be printable.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from compat.client import FETCH_WAIT, ClientFailure, Feature, OffsetSpec, Record
from compat.confluent_client import JAVA_NAMES

TIMEOUT_S = 120
KEY_DELIMITER = "|"
TIMES = {OffsetSpec.EARLIEST: -2, OffsetSpec.LATEST: -1}


class KcatMissing(Exception):
    pass


class KcatClient:
    name = "kcat"
    lacks = frozenset({Feature.ADMIN, Feature.MAX_TIMESTAMP, Feature.RECORD_TIMES})

    def __init__(self, bootstrap: str) -> None:
        command = shutil.which("kcat")
        if command is None:
            raise KcatMissing("kcat is not installed; run tools/install-test-tools")
        self._command = command
        self.bootstrap = bootstrap

    def run(self, *arguments: str, stdin: str = "", settings: Mapping[str, str] | None = None) -> str:
        """What kcat prints; its complaint as a failure when it does not exit with 0."""
        command = [self._command, "-b", self.bootstrap, *arguments]
        for key, value in (settings or {}).items():
            command += ["-X", f"{JAVA_NAMES.get(key, key)}={value}"]
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        if done.returncode != 0:
            raise ClientFailure("KCAT_FAILED", done.stderr)
        return done.stdout

    def partition_count(self, topic: str) -> int:
        (described,) = self.metadata(topic)["topics"]
        if "error" in described:
            raise ClientFailure("KCAT_FAILED", described["error"])
        return len(described["partitions"])

    def metadata(self, topic: str | None = None) -> dict[str, Any]:
        chosen = ["-t", topic] if topic is not None else []
        listed: dict[str, Any] = json.loads(self.run("-L", "-J", *chosen))
        return listed

    def produce(
        self, topic: str, records: Sequence[Record], settings: Mapping[str, str] | None = None
    ) -> None:
        """Headers and the partition are options of a run, so each stretch with the same ones is a run."""
        for (partition, headers), run in groupby(records, lambda record: (record.partition, record.headers)):
            options = ["-P", "-t", topic, "-p", str(partition), "-K", KEY_DELIMITER, "-Z"]
            for name, value in headers:
                options += ["-H", f"{name}={'' if value is None else value.decode()}"]
            lines = [_line(record) for record in run]
            self.run(*options, stdin="\n".join(lines), settings=settings)

    def consume(
        self,
        topic: str,
        partition: int = 0,
        *,
        start: int = 0,
        count: int | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> list[Record]:
        until = ["-e"] if count is None else ["-c", str(count)]
        options = ["-C", "-t", topic, "-p", str(partition), "-o", str(start), "-J", "-q", *until]
        printed = self.run(*options, settings=FETCH_WAIT | dict(settings or {}))
        return [_record(line) for line in printed.splitlines()]

    def offset_for(self, topic: str, spec: OffsetSpec | int, partition: int = 0) -> int:
        time_ms = TIMES[spec] if isinstance(spec, OffsetSpec) else spec
        printed = self.run("-Q", "-t", f"{topic}:{partition}:{time_ms}")
        found = re.fullmatch(rf"{re.escape(topic)} \[{partition}\] offset (-?\d+)\s*", printed)
        assert found, printed
        return int(found[1])

    def read_as_group(self, topic: str, group: str, count: int) -> list[Record]:
        settings = FETCH_WAIT | {"auto.offset.reset": "earliest"}
        printed = self.run("-G", group, "-J", "-q", "-c", str(count), topic, settings=settings)
        return [_record(line) for line in printed.splitlines()]


def _line(record: Record) -> str:
    value = (record.value or b"").decode()
    return value if record.key is None else f"{record.key.decode()}{KEY_DELIMITER}{value}"


def _record(line: str) -> Record:
    described = json.loads(line)
    names_and_values = described.get("headers", [])
    pairs = zip(names_and_values[::2], names_and_values[1::2], strict=True)
    return Record(
        value=_bytes(described["payload"]),
        key=_bytes(described["key"]),
        headers=tuple((name, _bytes(value)) for name, value in pairs),
        timestamp_ms=described["ts"],
        partition=described["partition"],
        offset=described["offset"],
    )


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
