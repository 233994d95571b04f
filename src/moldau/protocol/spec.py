"""Declares messages: plain classes whose fields have a wire type and versions.

Owns the declarations (`structure`, `request()`, `string()`, `array()`) and the queries on declared classes.
Knows nothing of the layout of bytes: that is the codec's work.

    @structure
    class Voter:
        voter_id: int = int32()
        endpoint: str | None = string(versions="2+", nullable="2+", default=None)

    @request(52, versions="0-2", flexible="1+")
    @structure
    class VoteRequest(Request):
        voters: Sequence[Voter] = array(Voter)

A field without `default` is required when a message is built, so mypy finds forgotten ones. A decoder uses
the default for a field that the version lacks: Kafka's implicit default (0, "", empty) where none is
declared. mypy treats messages as frozen. At run time they are ordinary slotted dataclasses, because building
a frozen one takes three times as long.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, Literal, TypeVar, cast, dataclass_transform

from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.core.ports import Buffer

Scalar = Literal[
    "bool",
    "int8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "float64",
    "uuid",
    "string",
    "bytes",
    "records",
]

_VERSION_OPEN: Final = 0x7FFF
_WIRE: Final = "wire"


@dataclasses.dataclass(frozen=True, slots=True)
class Versions:
    """An inclusive range, written "3", "3-5", "3+" or "none"."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> "Versions":
        if text == "none":
            return cls(0, -1)
        if text.endswith("+"):
            return cls(int(text[:-1]), _VERSION_OPEN)
        low, _, high = text.partition("-")
        return cls(int(low), int(high or low))

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    def __str__(self) -> str:
        if self.high < self.low:
            return "none"
        if self.high == _VERSION_OPEN:
            return f"{self.low}+"
        return f"{self.low}-{self.high}" if self.low < self.high else str(self.low)


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """One field of a structure, as declared."""

    name: str
    of: Scalar | type[Any]
    """The type of the field, or of its elements if it is an array: a scalar's name or a structure."""
    is_array: bool
    versions: Versions
    nullable: Versions
    default: Any
    tag: int | None
    ignorable: bool
    """Whether a non-default value is dropped silently in versions without the field."""


class Message:
    """The input of the codec: a declared class with a version range."""

    __slots__ = ()
    VERSIONS: ClassVar[Versions]
    FLEXIBLE: ClassVar[Versions]
    """Versions with compact lengths and tagged fields (KIP-482)."""


class Response(Message):
    __slots__ = ()
    API_KEY: ClassVar[int]


class Request(Message):
    __slots__ = ()
    API_KEY: ClassVar[int]
    RESPONSE: ClassVar[type[Response]]


def fields_of(declared: type[Any]) -> tuple[Field, ...]:
    """The fields of a structure or message, in wire order."""
    return tuple(
        dataclasses.replace(cast(Field, field.metadata[_WIRE]), name=field.name)
        for field in dataclasses.fields(declared)
    )


def bool8(
    *, versions: str = "0+", default: bool = False, tag: int | None = None, ignorable: bool = False
) -> bool:
    return cast(bool, _field("bool", default, versions, tag=tag, ignorable=ignorable))


def int8(*, versions: str = "0+", default: int = 0, tag: int | None = None, ignorable: bool = False) -> int:
    return cast(int, _field("int8", default, versions, tag=tag, ignorable=ignorable))


def int16(*, versions: str = "0+", default: int = 0, tag: int | None = None, ignorable: bool = False) -> int:
    return cast(int, _field("int16", default, versions, tag=tag, ignorable=ignorable))


def uint16(*, versions: str = "0+", default: int = 0, tag: int | None = None, ignorable: bool = False) -> int:
    return cast(int, _field("uint16", default, versions, tag=tag, ignorable=ignorable))


def int32(*, versions: str = "0+", default: int = 0, tag: int | None = None, ignorable: bool = False) -> int:
    return cast(int, _field("int32", default, versions, tag=tag, ignorable=ignorable))


def uint32(*, versions: str = "0+", default: int = 0, tag: int | None = None, ignorable: bool = False) -> int:
    return cast(int, _field("uint32", default, versions, tag=tag, ignorable=ignorable))


def int64(*, versions: str = "0+", default: int = 0, tag: int | None = None, ignorable: bool = False) -> int:
    return cast(int, _field("int64", default, versions, tag=tag, ignorable=ignorable))


def float64(
    *, versions: str = "0+", default: float = 0.0, tag: int | None = None, ignorable: bool = False
) -> float:
    return cast(float, _field("float64", default, versions, tag=tag, ignorable=ignorable))


def uuid(
    *, versions: str = "0+", default: TopicId = TOPIC_ID_ZERO, tag: int | None = None, ignorable: bool = False
) -> TopicId:
    return cast(TopicId, _field("uuid", default, versions, tag=tag, ignorable=ignorable))


def string(
    *,
    versions: str = "0+",
    nullable: str = "none",
    default: str | None = "",
    tag: int | None = None,
    ignorable: bool = False,
) -> Any:
    return _field("string", default, versions, nullable, tag, ignorable)


def bytestring(
    *,
    versions: str = "0+",
    nullable: str = "none",
    default: bytes | None = b"",
    tag: int | None = None,
    ignorable: bool = False,
) -> Any:
    return _field("bytes", default, versions, nullable, tag, ignorable)


def records(
    *, versions: str = "0+", nullable: str = "0+", default: Buffer | None = None, ignorable: bool = False
) -> Any:
    """Record batches, opaque here: decoding returns a view of the frame, encoding takes any buffer."""
    return _field("records", default, versions, nullable, None, ignorable)


def array(
    of: Scalar | type[Any],
    *,
    versions: str = "0+",
    nullable: str = "none",
    default: Sequence[Any] | None = (),
    tag: int | None = None,
    ignorable: bool = False,
) -> Any:
    return _field(of, default, versions, nullable, tag, ignorable, is_array=True)


def nested(
    of: type[Any],
    *,
    versions: str = "0+",
    nullable: str = "none",
    default: Any = ...,
    tag: int | None = None,
    ignorable: bool = False,
) -> Any:
    return _field(of, of() if default is ... else default, versions, nullable, tag, ignorable)


def _field(
    of: Scalar | type[Any],
    default: Any,
    versions: str,
    nullable: str = "none",
    tag: int | None = None,
    ignorable: bool = False,
    *,
    is_array: bool = False,
) -> Any:
    wire = Field(
        name="",
        of=of,
        is_array=is_array,
        versions=Versions.parse(versions),
        nullable=Versions.parse(nullable),
        default=list(default) if is_array and default is not None else default,
        tag=tag,
        ignorable=ignorable,
    )
    metadata = {_WIRE: wire}
    if is_array and default is not None:
        return dataclasses.field(default_factory=list, metadata=metadata)
    if default is not None and isinstance(of, type):
        # dataclasses takes an unhashable default for a mutable one. Nobody changes these structures, so one
        # is shared.
        return dataclasses.field(default_factory=lambda: default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


_T = TypeVar("_T")
_MessageT = TypeVar("_MessageT", bound=Message)
_RequestT = TypeVar("_RequestT", bound=Request)
_ResponseT = TypeVar("_ResponseT", bound=Response)


@dataclass_transform(
    kw_only_default=True,
    frozen_default=True,
    field_specifiers=(
        bool8,
        int8,
        int16,
        uint16,
        int32,
        uint32,
        int64,
        float64,
        uuid,
        string,
        bytestring,
        records,
        array,
        nested,
    ),
)
def structure(cls: type[_T]) -> type[_T]:
    # There are hundreds of structures. One shared `__eq__` and `__repr__`, and a docstring set beforehand, halve
    # the time to import them. Not keyword-only at run time: decoders pass arguments by position, which is fastest.
    cls.__doc__ = cls.__doc__ or cls.__name__
    cls.__eq__ = _equal  # type: ignore[method-assign]
    cls.__hash__ = None  # type: ignore[assignment]
    cls.__repr__ = _printed  # type: ignore[method-assign]
    return dataclasses.dataclass(slots=True, eq=False, repr=False, match_args=False)(cls)


def _equal(self: Any, other: Any) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)


def _printed(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
    return f"{type(self).__name__}({fields})"


def message(*, versions: str, flexible: str) -> Callable[[type[_MessageT]], type[_MessageT]]:
    """For a message outside a request or response: record keys and values of internal topics."""

    def declare(cls: type[_MessageT]) -> type[_MessageT]:
        cls.VERSIONS = Versions.parse(versions)
        cls.FLEXIBLE = Versions.parse(flexible)
        return cls

    return declare


def request(api_key: int, *, versions: str, flexible: str) -> Callable[[type[_RequestT]], type[_RequestT]]:
    def declare(cls: type[_RequestT]) -> type[_RequestT]:
        cls.API_KEY = api_key
        return message(versions=versions, flexible=flexible)(cls)

    return declare


def response(to: type[Request]) -> Callable[[type[_ResponseT]], type[_ResponseT]]:
    """The response to a request. It has the same key and versions."""

    def declare(cls: type[_ResponseT]) -> type[_ResponseT]:
        cls.API_KEY = to.API_KEY
        cls.VERSIONS = to.VERSIONS
        cls.FLEXIBLE = to.FLEXIBLE
        to.RESPONSE = cls
        return cls

    return declare
