"""What the three converters have in common: framing, subjects, and a codec for each schema that is made once."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.converters.converter import KEY, VALUE, Converter, Setup
from moldau.pipeline.connect.converters.framing import MAGIC, PREFIX_SIZE, wrong_format
from moldau.pipeline.connect.converters.registry.registry_settings import (
    client_settings,
    strategy_of,
    subject_of,
    url_of,
)
from moldau.pipeline.connect.converters.registry.schema_store import SchemaStore, StoredSchema
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.header_texts import NULL, Typed
from moldau.pipeline.connect.data.schema import Schema

READERS_MAX: Final = 1_000
CONVERTER_NAMES: Final = {
    "AVRO": "AvroConverter",
    "JSON": "JsonSchemaConverter",
    "PROTOBUF": "ProtobufConverter",
}


class Described(NamedTuple):
    """A schema in the converter's own language, with the name of its record, if it has one."""

    text: str
    record: str | None


class RegistryConverter(Converter):
    """Data follow a zero byte and the schema's id."""

    uses = (KEY, VALUE)
    kind: ClassVar[str] = ""
    """As the registry calls it."""
    title: ClassVar[str] = ""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        said = self.settings
        self._registers: bool = said["auto.register.schemas"]
        self._uses_latest: bool = said["use.latest.version"]
        if self._registers and self._uses_latest:
            raise ConfigError(
                f"{setup.setting}.use.latest.version=true has no effect with auto.register.schemas=true: set "
                f"{setup.setting}.auto.register.schemas=false"
            )
        self._strategy = strategy_of(said, setup.use)
        self._store = SchemaStore(url_of(said), client_settings(said), normalizes=said["normalize.schemas"])
        self._writers: dict[str, Derived[Callable[[Any], bytes]]] = {}
        self._readers: dict[bytes, Callable[[bytes], Typed]] = {}

    @abstractmethod
    def describe(self, schema: Schema) -> Described:
        """Raises DataError for a schema that has no equivalent."""

    @abstractmethod
    def writer(self, schema: Schema, stored: StoredSchema) -> Callable[[Any], bytes]:
        """Of values that are not None, written with `stored`: all that follows the id."""

    @abstractmethod
    def reader(self, stored: StoredSchema) -> Callable[[bytes], Typed]:
        """Of what follows the id."""

    def from_connect(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        if value is None and (schema is None or schema.default is None):
            if schema is not None and not schema.optional:
                raise DataError(
                    f"{self.name()} cannot write the record's {self.setup.use}: it is null, and its schema ({schema}) "
                    "neither allows null nor has a default"
                )
            return None
        if schema is None:
            raise self.unfit(
                value,
                "values with a schema",
                "use a source or transformation that gives records schemas, or JsonConverter with "
                "schemas.enable=false",
            )
        writers = self._writers.get(topic)
        if writers is None:
            writers = self._writers[topic] = Derived(lambda of: self._writer_of(topic, of))
        write = writers.of(schema)
        try:
            return write(schema.default if value is None else value)
        except (DataError, ValueError, TypeError, LookupError, ArithmeticError) as wrong:
            raise DataError(
                f"{self.name()} cannot write the record's {self.setup.use}: {wrong}. Mend the value or its schema"
            ) from None

    def to_connect(self, topic: str, data: bytes | None) -> Typed:
        if data is None:
            return NULL
        read = self._readers.get(data[:PREFIX_SIZE])
        if read is None:
            read = self._reader_of(data)
        try:
            return read(data[PREFIX_SIZE:])
        except (DataError, ValueError, TypeError, LookupError, ArithmeticError, EOFError) as wrong:
            raise DataError(
                f"the record's {self.setup.use} does not fit the schema with the id "
                f"{int.from_bytes(data[1:PREFIX_SIZE], 'big')} that it names: {wrong}. Mend the program that writes "
                "the records"
            ) from None

    def _writer_of(self, topic: str, schema: Schema) -> Callable[[Any], bytes]:
        described = self.describe(schema)
        subject = subject_of(self._strategy, topic, self.setup.use, described.record)
        if subject is None:
            raise DataError(
                f"{self.setup.use}.subject.name.strategy={self._strategy} names subjects after records, and the "
                f"schema {schema} has no name: give it one with SetSchemaMetadata, or use TopicNameStrategy"
            )
        if self._uses_latest:
            stored = self._store.latest(subject)
            if stored.kind != self.kind:
                raise DataError(
                    f"the latest schema of the subject {subject} is {stored.kind}, and {self.name()} writes {self.kind}"
                )
        else:
            put = self._store.register if self._registers else self._store.registered
            stored = StoredSchema(self.kind, described.text, put(subject, self.kind, described.text), {})
        front = bytes([MAGIC]) + stored.id.to_bytes(PREFIX_SIZE - 1, "big")
        write = self.writer(schema, stored)
        return lambda value: front + write(value)

    def _reader_of(self, data: bytes) -> Callable[[bytes], Typed]:
        if len(data) < PREFIX_SIZE or data[0] != MAGIC:
            cure = (
                f"use the converter of its format in {self.setup.setting}, or mend the program that writes it"
            )
            raise DataError(wrong_format(data, f"{self.title} with a schema id in front", cure))
        stored = self._store.by_id(int.from_bytes(data[1:PREFIX_SIZE], "big"))
        if stored.kind != self.kind:
            raise DataError(
                f"the record's schema with the id {stored.id} is of type {stored.kind}, and {self.name()} reads "
                f"{self.kind}: set {self.setup.setting}={CONVERTER_NAMES.get(stored.kind, stored.kind)}"
            )
        try:
            read = self.reader(stored)
        except (ValueError, TypeError, LookupError) as wrong:
            raise DataError(f"the schema with the id {stored.id} cannot be used: {wrong}") from None
        if len(self._readers) >= READERS_MAX:
            self._readers.pop(next(iter(self._readers)))
        self._readers[data[:PREFIX_SIZE]] = read
        return read
