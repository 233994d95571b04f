"""The declaration of a configuration key: name, type, default, bounds, documentation and scope.

The keys themselves are declared in the modules beside this one.
"""

from enum import Enum
from typing import Any, Final, Generic, NamedTuple, NoReturn, Self, TypedDict, TypeVar, Unpack, overload

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import Check, within
from moldau.core.settings.text_form import EXAMPLES, KINDS, PARSERS, ConfigType, format_value

INT_MAX: Final = (1 << 31) - 1
LONG_MAX: Final = (1 << 63) - 1
DOUBLE_MAX: Final = 1.7976931348623157e308

T = TypeVar("T")
BoolOrNone = TypeVar("BoolOrNone", bound=bool | None)
IntOrNone = TypeVar("IntOrNone", bound=int | None)
FloatOrNone = TypeVar("FloatOrNone", bound=float | None)
StrOrNone = TypeVar("StrOrNone", bound=str | None)
ListOrNone = TypeVar("ListOrNone", bound=tuple[str, ...] | None)


class Scope(Enum):
    """When and for which resource a key may be changed; broker keys have Kafka's words."""

    STATIC = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER = "cluster-wide"
    TOPIC = "topic"
    GROUP = "group"
    CLIENT_METRICS = "client metrics"


class Importance(Enum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Fallback(NamedTuple):
    """A broker key that supplies the value of an unset topic key; `factor` converts its unit."""

    name: str
    factor: int = 1

    def convert(self, value: Any) -> Any:
        if self.factor == 1 or value is None:
            return value
        return -1 if value < 0 else value * self.factor


class Declared(TypedDict, total=False):
    """What any kind of key may declare besides name, default and doc."""

    check: Check
    scope: Scope
    importance: Importance
    inert: str
    internal: bool
    fallbacks: tuple[Fallback, ...]


class ConfigKey(Generic[T]):
    """A key. As a class attribute of a `SettingsView` it also gives typed access to its value."""

    __slots__ = (
        "attribute",
        "check",
        "default",
        "doc",
        "fallbacks",
        "importance",
        "inert",
        "internal",
        "name",
        "scope",
        "type",
    )

    def __init__(
        self,
        name: str,
        config_type: ConfigType,
        default: T,
        doc: str,
        declared: Declared,
        *,
        check: Check | None = None,
    ) -> None:
        self.name = name
        self.type = config_type
        self.default = default
        self.doc = doc
        self.check = declared.get("check", check)
        self.scope = declared.get("scope", Scope.STATIC)
        self.importance = declared.get("importance", Importance.MEDIUM)
        self.inert = declared.get("inert", "")
        self.internal = declared.get("internal", False)
        self.fallbacks = declared.get("fallbacks", ())
        self.attribute = ""

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.attribute = attribute

    @overload
    def __get__(self, view: None, owner: type) -> Self: ...

    @overload
    def __get__(self, view: object, owner: type) -> T: ...

    def __get__(self, view: object | None, owner: type) -> "Self | T":
        # The instance dictionary of a view shadows this, so reading a setting is a plain attribute access.
        return self if view is None else self.default

    def __repr__(self) -> str:
        return f"<ConfigKey {self.name}>"

    @property
    def sensitive(self) -> bool:
        return self.type is ConfigType.PASSWORD

    @property
    def documentation(self) -> str:
        return f"{self.doc} Accepted, without effect: {self.inert}." if self.inert else self.doc

    @property
    def expects(self) -> str:
        """The values the key takes, in words for people."""
        kind = KINDS[self.type]
        return f"{kind}{self.check.expects}" if self.check else kind

    def parse(self, text: str) -> T:
        """Parses a value. ConfigError names the key, the value and what it takes."""
        value = PARSERS[self.type](text.strip())
        if value is None or (self.check is not None and not self.check.accepts(value)):
            self.refuse(text)
        return value  # type: ignore[no-any-return]

    def refuse(self, text: str) -> NoReturn:
        shown = "[hidden]" if self.sensitive else text
        raise ConfigError(
            f"Invalid value {shown} for configuration {self.name}: "
            f"it takes {self.expects}, for example {self.name}={self.example}"
        )

    @property
    def example(self) -> str:
        text = format_value(self.default)
        if text:
            return text
        return (self.check.example if self.check else "") or EXAMPLES[self.type]


def boolean(
    name: str, default: BoolOrNone, doc: str, **declared: Unpack[Declared]
) -> ConfigKey[bool | BoolOrNone]:
    return ConfigKey(name, ConfigType.BOOLEAN, default, doc, declared)


def integer(
    name: str,
    default: IntOrNone,
    doc: str,
    *,
    at_least: int | None = None,
    at_most: int | None = None,
    **declared: Unpack[Declared],
) -> ConfigKey[int | IntOrNone]:
    return ConfigKey(name, ConfigType.INT, default, doc, declared, check=within(at_least, at_most))


def short(
    name: str, default: IntOrNone, doc: str, *, at_least: int | None = None, **declared: Unpack[Declared]
) -> ConfigKey[int | IntOrNone]:
    return ConfigKey(name, ConfigType.SHORT, default, doc, declared, check=within(at_least, None))


def long(
    name: str,
    default: IntOrNone,
    doc: str,
    *,
    at_least: int | None = None,
    at_most: int | None = None,
    **declared: Unpack[Declared],
) -> ConfigKey[int | IntOrNone]:
    return ConfigKey(name, ConfigType.LONG, default, doc, declared, check=within(at_least, at_most))


def double(
    name: str,
    default: FloatOrNone,
    doc: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    **declared: Unpack[Declared],
) -> ConfigKey[float | FloatOrNone]:
    return ConfigKey(name, ConfigType.DOUBLE, default, doc, declared, check=within(at_least, at_most))


def string(
    name: str, default: StrOrNone, doc: str, **declared: Unpack[Declared]
) -> ConfigKey[str | StrOrNone]:
    return ConfigKey(name, ConfigType.STRING, default, doc, declared)


def strings(
    name: str, default: ListOrNone, doc: str, **declared: Unpack[Declared]
) -> ConfigKey[tuple[str, ...] | ListOrNone]:
    return ConfigKey(name, ConfigType.LIST, default, doc, declared)


def class_name(
    name: str, default: StrOrNone, doc: str, **declared: Unpack[Declared]
) -> ConfigKey[str | StrOrNone]:
    return ConfigKey(name, ConfigType.CLASS, default, doc, declared)


def password(name: str, doc: str, **declared: Unpack[Declared]) -> ConfigKey[str | None]:
    return ConfigKey(name, ConfigType.PASSWORD, None, doc, declared)
