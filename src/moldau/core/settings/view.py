"""Settings as attributes: a class of declared keys, and instances that hold one value for each.

Instances are frozen: a changed configuration is a new instance.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

from moldau.core.errors import ConfigError
from moldau.core.settings.key import ConfigKey


class SettingsView:
    KIND: ClassVar[str] = ""
    """The kind of resource with these settings, in words for people."""
    KEYS: ClassVar[Mapping[str, ConfigKey[Any]]] = {}
    """All keys of the class and its parents, by Kafka's name, sorted."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        declared = (
            item for parent in cls.__mro__ for item in vars(parent).values() if isinstance(item, ConfigKey)
        )
        cls.KEYS = {key.name: key for key in sorted(declared, key=lambda key: key.name)}

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Takes parsed values by key name; missing keys have their default."""
        vars(self).update((key.attribute, values.get(name, key.default)) for name, key in self.KEYS.items())

    @classmethod
    def parse(cls, texts: Mapping[str, str]) -> Self:
        return cls(cls.values_of(texts))

    @classmethod
    def values_of(cls, texts: Mapping[str, str]) -> dict[str, Any]:
        """Parsed values by name. ConfigError for a wrong value or an unknown name."""
        values = {}
        for name, text in texts.items():
            key = cls.KEYS.get(name)
            if key is None:
                raise ConfigError(f"Unknown {cls.KIND} config name: {name}{nearest_text(name, cls.KEYS)}")
            values[name] = key.parse(text)
        return values

    def value_of(self, name: str) -> Any:
        """For code that prints all settings; code that uses one reads its attribute."""
        return getattr(self, self.KEYS[name].attribute)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"settings are frozen; {name} cannot be assigned")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


def nearest_text(name: str, known: Iterable[str]) -> str:
    """A suggestion that ends an error message: the most similar known name, if there is one."""
    import difflib  # only on the way to an error

    nearest = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean {nearest[0]}?" if nearest else ""
