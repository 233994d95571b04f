"""What a transformation is: a function of one record, made of its settings once for each task."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from moldau.core.settings.checks import Check
from moldau.core.settings.key import boolean
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import Declaration, Texts, values_of

PACKAGE: Final = "org.apache.kafka.connect.transforms"
_OWN_PACKAGE: Final = __name__.rpartition(".")[0]
KEY: Final = "Key"
VALUE: Final = "Value"
NON_EMPTY_LIST: Final = Check(bool, " that is not empty", "id")
REPLACE_NULL: Final = "replace.null.with.default"
REPLACE_NULL_WITH_DEFAULT: Final = Declaration(
    boolean(
        REPLACE_NULL,
        True,
        "Whether to replace fields that have a default value and that are null to the default value. When set to true, "
        "the default value is used, otherwise null is used.",
    )
)


class Transformation(ABC):
    declarations: ClassVar[Sequence[Declaration]] = ()
    doc: ClassVar[str] = ""
    parts: ClassVar[tuple[str, ...]] = ()
    """Key and Value, where the transformation is for one of them: `Cast$Key`."""

    def __init__(self, texts: Texts, part: str = "", of: str = "") -> None:
        """`of` names the transformation in messages. Raises ConfigError for a wrong setting."""
        self.part = part
        self.of = of or self.title(part)
        self.settings: Mapping[str, Any] = values_of(self.declarations, texts, of=self.of)

    @classmethod
    def title(cls, part: str) -> str:
        """The short name: `Cast$Value`."""
        return f"{cls.__name__}${part}" if part else cls.__name__

    @classmethod
    def java_name(cls, part: str) -> str:
        """The full name: Java's of Kafka's transformations, Python's of those of users."""
        package = PACKAGE if cls.__module__.startswith(_OWN_PACKAGE) else cls.__module__
        return f"{package}.{cls.title(part)}"

    @abstractmethod
    def apply(self, record: Record) -> Record | None:
        """May change the record, which is a copy for it, but neither its key nor its value: those are replaced.
        None drops the record. Raises DataError."""


class PartTransformation(Transformation):
    """Of the key or of the value, as its name says."""

    parts = (KEY, VALUE)

    def __init__(self, texts: Texts, part: str = VALUE, of: str = "") -> None:
        super().__init__(texts, part, of)
        self._is_key = part == KEY

    def apply(self, record: Record) -> Record | None:
        if self._is_key:
            schema, value = self.transform(record, record.key_schema, record.key)
            record.key_schema, record.key = schema, value
        else:
            schema, value = self.transform(record, record.value_schema, record.value)
            record.value_schema, record.value = schema, value
        return record

    @abstractmethod
    def transform(self, record: Record, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        """The new schema and value of the part. Raises DataError."""

    def require_dict(self, value: Any) -> dict[str, Any]:
        if type(value) is dict:
            return value
        raise DataError(
            f"{self.of} takes an object with fields where there is no schema, and the record's {self.part.lower()} is "
            f"{kind_of(value)}: wrap it with HoistField first, or apply the transformation to other records only, with "
            "a predicate"
        )

    def require_struct(self, value: Any) -> Struct:
        if type(value) is Struct:
            return value
        raise DataError(
            f"{self.of} takes a struct, and the record's {self.part.lower()} is {kind_of(value)}: wrap it with "
            "HoistField first, or apply the transformation to other records only, with a predicate"
        )


class StructTransformation(PartTransformation):
    """Works on fields of a struct, or of an object without a schema. What a schema means for it is worked out once,
    in `plan`. A null passes through, unless the transformation says otherwise."""

    passes_null: ClassVar[bool] = True

    def __init__(self, texts: Texts, part: str = VALUE, of: str = "") -> None:
        super().__init__(texts, part, of)
        self._plans = Derived(self.plan)
        self.replaces_null: bool = self.settings.get(REPLACE_NULL, True)

    def transform(self, record: Record, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if value is None and self.passes_null:
            return schema, None
        if schema is None:
            return None, self.of_object(record, self.require_dict(value))
        struct = self.require_struct(value)
        return self.of_struct(record, self._plans.of(struct.schema), struct)

    def plan(self, schema: Schema) -> Any:
        """What the transformation needs to know for all structs of this schema. Raises DataError."""
        raise NotImplementedError

    @abstractmethod
    def of_object(self, record: Record, value: dict[str, Any]) -> Any: ...

    @abstractmethod
    def of_struct(self, record: Record, plan: Any, struct: Struct) -> tuple[Schema | None, Any]: ...

    def values(self, struct: Struct) -> tuple[Any, ...]:
        """Those of all fields, with defaults if the settings say so."""
        return struct.with_defaults() if self.replaces_null else struct.values

    def value_of(self, struct: Struct, name: str) -> Any:
        return struct[name] if self.replaces_null else struct.without_default(name)


def kind_of(value: Any) -> str:
    return "null" if value is None else f"a {type(value).__name__}"
