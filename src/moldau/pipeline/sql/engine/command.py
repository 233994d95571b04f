"""A record of the command topic, in the JSON of ksqlDB."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import orjson

from moldau.pipeline.sql.syntax.errors import SqlError

VERSION: Final = 18
"""The version of ksqlDB 7.x's commands."""

Entity = Literal["stream", "table", "topic", "type", "terminate", "pause", "resume", "cluster"]
Action = Literal["create", "drop", "alter", "execute"]


@dataclass(frozen=True, slots=True)
class Command:
    """A statement that changes what is defined. Its text is complete: replaying it needs only the catalog."""

    entity: Entity
    name: str
    action: Action
    statement: str
    properties: Mapping[str, str] = field(default_factory=dict)
    """Set by the session, and part of the query for good."""
    original_properties: Mapping[str, str] = field(default_factory=dict)
    """What the server's settings said of queries at the time; those of the session come before them."""
    version: int = VERSION
    outline: Mapping[str, Any] | None = field(default=None, compare=False)
    """Of a query: the columns of what it makes."""
    begin: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Of a query that reads what comes from now on: the end offsets of its topics, by partition, at the time."""

    @property
    def id(self) -> str:
        """The key of the record: `stream/PAGEVIEWS/create`."""
        return f"{self.entity}/{self.name}/{self.action}"

    def to_bytes(self) -> tuple[bytes, bytes]:
        """Key and value."""
        value = {
            "statement": self.statement,
            "streamsProperties": dict(self.properties),
            "originalProperties": dict(self.original_properties),
            "plan": None if self.outline is None else {"outline": self.outline},
            "beginOffsets": self.begin,
            "version": self.version,
        }
        return orjson.dumps(self.id), orjson.dumps(value)

    @classmethod
    def from_bytes(cls, key: bytes, value: bytes) -> "Command":
        """SqlError for a record that is no command, or one of a newer version."""
        try:
            entity, name, action = _id_parts(orjson.loads(key))
            said = orjson.loads(value)
            version = int(said.get("version") or 0)
            command = cls(
                entity,  # type: ignore[arg-type]
                name,
                action,  # type: ignore[arg-type]
                str(said["statement"]),
                _texts(said.get("streamsProperties")),
                _texts(said.get("originalProperties")),
                version,
                (said.get("plan") or {}).get("outline"),
                offsets_of(said.get("beginOffsets")),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as wrong:
            raise SqlError(f"a record of the command topic is not a command: {wrong}") from None
        if version > VERSION:
            raise SqlError(
                f"command {command.id} has version {version}; this server reads versions up to {VERSION}",
                hint="Upgrade this server: another one on the same command topic is newer.",
            )
        return command


def _id_parts(key: object) -> tuple[str, str, str]:
    if isinstance(key, dict):
        return str(key["type"]).lower(), str(key["entity"]), str(key["action"]).lower()
    entity, rest = str(key).split("/", 1)
    name, action = rest.rsplit("/", 1)
    return entity, name, action


def offsets_of(given: Mapping[str, Sequence[int]] | None) -> dict[str, tuple[int, ...]]:
    """By topic and partition, as JSON has them."""
    return {topic: tuple(map(int, offsets)) for topic, offsets in (given or {}).items()}


def _texts(given: Mapping[str, object] | None) -> dict[str, str]:
    return {name: str(value) for name, value in (given or {}).items() if value is not None}
