"""What the three schema formats share: a parsed schema, a clash between two schemas, an invalid text.

Pure data. The formats create these; the registry and the command line only read them.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from moldau.core.errors import MoldauError


class InvalidSchema(MoldauError):
    """A text that is not a valid schema of its format. The message says where, why, and what would be valid."""


class Direction(StrEnum):
    """Who could not read whose data when a clash was found."""

    BACKWARD = "BACKWARD"
    """Readers of the new schema cannot read data written with the registered version."""
    FORWARD = "FORWARD"
    """Readers of the registered version cannot read data written with the new schema."""


@dataclass(frozen=True, slots=True)
class Clash:
    """One rule broken at one path between the new schema and one registered version.

    `rule` and `path` are those of Confluent's registry, so that tools written for it understand them.
    """

    rule: str
    path: str
    direction: Direction
    version: int
    reason: str
    """What differs, as text: the thing first, then its two states."""
    change: str
    """The smallest change to the new schema that would satisfy this rule."""
    additional: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def message(self) -> str:
        data = (
            f"a reader of the new schema cannot read data written with version {self.version}"
            if self.direction is Direction.BACKWARD
            else f"a reader of version {self.version} cannot read data written with the new schema"
        )
        return f"{self.reason}, so {data} ({self.rule} at {self.path}). To pass: {self.change}."

    def to_json(self) -> dict[str, object]:
        found: dict[str, object] = {
            "rule": self.rule,
            "path": self.path,
            "direction": self.direction.value,
            "version": self.version,
            "reason": self.reason,
            "change": self.change,
            "message": self.message,
        }
        if self.additional:
            found["additional"] = dict(self.additional)
        return found


class ParsedSchema(ABC):
    """A parsed schema. Two schemas are the same to a registry when their `identity` is equal."""

    schema_type: str
    text: str
    references: Mapping[str, "ParsedSchema"]

    @property
    @abstractmethod
    def canonical(self) -> str:
        """The text a registry stores: without layout and redundant parts, with documentation and defaults."""

    @property
    def identity(self) -> str:
        """What two texts of the same schema share, with references resolved."""
        return self.canonical

    @property
    @abstractmethod
    def name(self) -> str | None:
        """The full name of the record or message it describes, if it has one."""

    def check(self, *, fields: bool = False) -> None:  # noqa: B027 Avro checks its texts as it parses them.
        """Raises InvalidSchema unless everything it names exists. Not called for stored or imported schemas.

        `fields` adds the checks that a registry makes with `validateFields`.
        """

    @abstractmethod
    def has_field(self, name: str) -> bool:
        """Whether it has this field at its top level."""

    @abstractmethod
    def normalized(self) -> "ParsedSchema":
        """The same schema with everything ordered and written in one way (`normalize=true`)."""

    @abstractmethod
    def resolved(self) -> str:
        """The text with every reference resolved (`format=resolved`)."""

    @abstractmethod
    def clashes(self, other: "Existing", direction: Direction) -> list[Clash]:
        """Why this new schema may not follow `other`, a version of the same schema type."""


@dataclass(frozen=True, slots=True)
class Existing:
    """A registered version to compare a new schema with."""

    version: int
    schema: ParsedSchema
