"""What a converter is: two functions for keys, values or headers, made of its settings once for each task."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.header_texts import Typed
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.declarations import Declaration, Texts, values_of

KEY: Final = "key"
VALUE: Final = "value"
HEADER: Final = "header"


class Setup(NamedTuple):
    """`use` is `key`, `value` or `header`. `texts` are the converter's own settings, without a prefix."""

    use: str
    texts: Texts

    @property
    def setting(self) -> str:
        """What names the converter in a configuration."""
        return f"{self.use}.converter"


class Converter(ABC):
    """Raises DataError for what it cannot convert."""

    declarations: ClassVar[Sequence[Declaration]] = ()
    java_name: ClassVar[str] = ""
    doc: ClassVar[str] = ""
    uses: ClassVar[tuple[str, ...]] = (KEY, VALUE, HEADER)

    def __init__(self, setup: Setup) -> None:
        """Raises ConfigError for a wrong setting."""
        self.setup = setup
        self.settings: Mapping[str, Any] = values_of(
            self.declarations, setup.texts, of=f"{setup.setting} {self.name()}"
        )

    @classmethod
    def name(cls) -> str:
        """The short name."""
        return cls.java_name.rpartition(".")[2]

    @abstractmethod
    def to_connect(self, topic: str, data: bytes | None) -> Typed:
        """From a record's bytes to schema and value."""

    @abstractmethod
    def from_connect(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        """To a record's bytes."""

    def header_to_connect(self, topic: str, header: str, data: bytes | None) -> Typed:
        return self.to_connect(topic, data)

    def header_from_connect(self, topic: str, header: str, schema: Schema | None, value: Any) -> bytes | None:
        return self.from_connect(topic, schema, value)

    def unfit(self, value: Any, wanted: str, cure: str) -> DataError:
        """A value that this converter cannot write."""
        return DataError(
            f"{self.name()} writes {wanted}, and the record's {self.setup.use} is a {type(value).__name__}: {cure}"
        )
