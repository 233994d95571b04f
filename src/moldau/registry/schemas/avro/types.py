"""Avro's types as a graph of nodes. A recursive schema is a cycle, so nodes are compared by identity."""

from dataclasses import dataclass, field

PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
NAMED = frozenset({"record", "error", "enum", "fixed"})

TYPE_NAMES = (*sorted(PRIMITIVES), "record", "enum", "array", "map", "fixed")


class Missing:
    """Marks a field without a default. None is a default: JSON's null."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Name:
    simple: str
    namespace: str | None = None

    @property
    def full(self) -> str:
        return f"{self.namespace}.{self.simple}" if self.namespace else self.simple

    def seen_from(self, namespace: str | None) -> str:
        """The name as written inside `namespace`: a type named like a primitive keeps its namespace."""
        if self.namespace is None or (self.namespace == namespace and self.simple not in PRIMITIVES):
            return self.simple
        return self.full


@dataclass(eq=False, slots=True)
class Primitive:
    kind: str
    props: dict[str, object] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Array:
    items: "AvroType"
    props: dict[str, object] = field(default_factory=dict)
    kind: str = "array"


@dataclass(eq=False, slots=True)
class Map:
    values: "AvroType"
    props: dict[str, object] = field(default_factory=dict)
    kind: str = "map"


@dataclass(eq=False, slots=True)
class Union:
    branches: list["AvroType"]
    kind: str = "union"


@dataclass(eq=False, slots=True)
class Fixed:
    name: Name
    size: int
    aliases: list[Name]
    doc: str | None
    props: dict[str, object]
    kind: str = "fixed"


@dataclass(eq=False, slots=True)
class Enum:
    name: Name
    symbols: list[str]
    default: str | None
    aliases: list[Name]
    doc: str | None
    props: dict[str, object]
    kind: str = "enum"


@dataclass(eq=False, slots=True)
class Field:
    name: str
    type: "AvroType"
    default: object
    doc: str | None
    order: str
    aliases: list[str]
    props: dict[str, object]


@dataclass(eq=False, slots=True)
class Record:
    name: Name
    fields: list[Field]
    aliases: list[Name]
    doc: str | None
    props: dict[str, object]
    is_error: bool = False
    kind: str = "record"

    def field_named(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)


NamedType = Record | Enum | Fixed
AvroType = Primitive | Array | Map | Union | Record | Enum | Fixed


def described(node: AvroType) -> str:
    """A type as people call it."""
    if isinstance(node, Record | Enum | Fixed):
        return f"{node.kind} {node.name.full}"
    if isinstance(node, Union):
        return "[" + ", ".join(described(branch) for branch in node.branches) + "]"
    if isinstance(node, Array):
        return f"array of {described(node.items)}"
    if isinstance(node, Map):
        return f"map of {described(node.values)}"
    return node.kind
