"""A `.proto` file as a tree: in the author's order, with unresolved names."""

from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_NUMBER = 2**29 - 1
"""The largest field number; `max` in a range."""
SCALARS = frozenset(
    {
        *("int32", "int64", "uint32", "uint64", "sint32", "sint64", "bool"),
        *("fixed32", "fixed64", "sfixed32", "sfixed64", "double", "float", "string", "bytes"),
    }
)


@dataclass(frozen=True, slots=True)
class Quoted:
    """A string literal, with its escapes decoded."""

    text: str


@dataclass(frozen=True, slots=True)
class Word:
    """A number, true, false or the name of an enum value, as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`{ key: value ... }`"""

    members: tuple[tuple[str, "Value"], ...]


@dataclass(frozen=True, slots=True)
class Several:
    """`[ value, ... ]`"""

    values: tuple["Value", ...]


Value = Quoted | Word | Aggregate | Several


@dataclass(frozen=True, slots=True)
class Option:
    """`name` as written, parentheses included: `deprecated`, `(acme.meta).doc`."""

    name: str
    value: Value

    @property
    def extension(self) -> str | None:
        """The name in parentheses at its start."""
        return self.name[1 : self.name.index(")")] if self.name.startswith("(") else None


@dataclass(frozen=True, slots=True)
class Span:
    """Numbers of a `reserved` or `extensions` statement, both ends included."""

    start: int
    end: int


@dataclass(slots=True)
class Reserved:
    values: list[Span | str]


@dataclass(slots=True)
class Extensions:
    values: list[Span]
    options: list[Option]


@dataclass(slots=True)
class Field:
    label: str | None
    type: str
    name: str
    number: int
    options: list[Option] = field(default_factory=list)
    key_type: str | None = None
    """The key type of a map; `type` is the type of its values."""

    @property
    def type_shown(self) -> str:
        return f"map<{self.key_type}, {self.type}>" if self.key_type else self.type

    def option(self, name: str) -> Value | None:
        return next((option.value for option in self.options if option.name == name), None)


@dataclass(slots=True)
class Oneof:
    name: str
    fields: list[Field] = field(default_factory=list)
    groups: list["Group"] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)


@dataclass(slots=True)
class Group:
    label: str | None
    number: int
    message: "Message"


@dataclass(slots=True)
class Extend:
    name: str
    fields: list[Field] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)


@dataclass(slots=True)
class EnumValue:
    name: str
    number: int
    options: list[Option] = field(default_factory=list)


@dataclass(slots=True)
class Enum:
    name: str
    values: list[EnumValue] = field(default_factory=list)
    reserved: list[Reserved] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)


@dataclass(slots=True)
class Message:
    name: str
    fields: list[Field] = field(default_factory=list)
    oneofs: list[Oneof] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    messages: list["Message"] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    reserved: list[Reserved] = field(default_factory=list)
    extensions: list[Extensions] = field(default_factory=list)
    extends: list[Extend] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)

    @property
    def is_map_entry(self) -> bool:
        return any(option.name == "map_entry" and option.value == Word("true") for option in self.options)

    def all_fields(self) -> Iterator[tuple[Field, str | None]]:
        """Yields every field with the oneof it is in."""
        yield from ((found, None) for found in self.fields)
        for oneof in self.oneofs:
            yield from ((found, oneof.name) for found in oneof.fields)


@dataclass(slots=True)
class Rpc:
    name: str
    request: str
    response: str
    request_streams: bool = False
    response_streams: bool = False
    options: list[Option] = field(default_factory=list)


@dataclass(slots=True)
class Service:
    name: str
    rpcs: list[Rpc] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Import:
    path: str
    kind: str = ""
    """`public`, `weak` or nothing."""


@dataclass(slots=True)
class ProtoFile:
    syntax: str | None = None
    edition: str | None = None
    package: str | None = None
    imports: list[Import] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    extends: list[Extend] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)

    @property
    def is_proto3(self) -> bool:
        return self.syntax == "proto3"
