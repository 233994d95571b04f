"""JSON files of Kafka's tools: reads and validates them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moldau.cli.failures import Failure

_WORDS = {str: "text", int: "a whole number", list: "a list of broker ids"}


@dataclass(frozen=True)
class ListFile:
    """The format of one kind of file. `what` names it in messages."""

    what: str
    key: str
    fields: Mapping[str, type]
    example: str

    def read(self, path: Path) -> Sequence[Mapping[str, Any]]:
        try:
            node = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(f"cannot read the {self.what} {path}: {error}.") from error
        except ValueError as error:
            raise self._refusal(path, f"it is not JSON ({error})") from error
        entries = node.get(self.key) if isinstance(node, dict) else None
        if not isinstance(entries, list):
            raise self._refusal(path, f"it has no list '{self.key}'")
        for number, entry in enumerate(entries, 1):
            self._check(path, number, entry)
        return entries

    def _check(self, path: Path, number: int, entry: object) -> None:
        where = f"entry {number} of '{self.key}'"
        if not isinstance(entry, dict):
            raise self._refusal(path, f"{where} is not an object")
        for name, kind in self.fields.items():
            if name not in entry:
                raise self._refusal(path, f"{where} has no '{name}'")
            if not _is(kind, entry[name]):
                raise self._refusal(
                    path, f"{where}: its '{name}' is {json.dumps(entry[name])}, not {_WORDS[kind]}"
                )

    def _refusal(self, path: Path, reason: str) -> Failure:
        return Failure(f"{path} is not a valid {self.what}: {reason}.", f"Expected format: {self.example}")


def _is(kind: type, value: object) -> bool:
    if isinstance(value, bool):
        return False
    if kind is list:
        return isinstance(value, list) and all(_is(int, each) for each in value)
    return isinstance(value, kind)


PLAN = ListFile(
    "plan for moving partitions",
    "partitions",
    {"topic": str, "partition": int, "replicas": list},
    '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2]}]}',
)
TOPICS = ListFile(
    "list of topics to move", "topics", {"topic": str}, '{"version":1,"topics":[{"topic":"t"},{"topic":"u"}]}'
)
ELECTION = ListFile(
    "list of partitions",
    "partitions",
    {"topic": str, "partition": int},
    '{"partitions":[{"topic":"t","partition":0}]}',
)
DELETION = ListFile(
    "list of records to delete",
    "partitions",
    {"topic": str, "partition": int, "offset": int},
    '{"version":1,"partitions":[{"topic":"t","partition":0,"offset":100}]}',
)
