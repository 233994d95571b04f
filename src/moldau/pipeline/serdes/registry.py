"""Serdes with schemas in the schema registry: Avro, JSON Schema, Protobuf, with confluent-kafka's serializers.

The wire format is Confluent's: a zero byte, the schema id, the data. Pickling a serde keeps its settings; each process
creates its own registry client and fetches each schema once.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde, ServiceAway

SERVER_ERRORS_FROM: Final = 500


class _RegistrySerde(Serde):
    """Subjects are named after the topic (TopicNameStrategy)."""

    format = ""

    def __init__(self, registry_url: str, schema: str | None = None, **client_settings: str) -> None:
        """`schema` is the one to write with. For reading only it may be left out: each record names its schema."""
        self._url = registry_url
        self._schema = schema
        self._settings = tuple(sorted(client_settings.items()))

    @property
    def name(self) -> str:
        return f"{self.format}({self._schema or 'any schema'})"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        if self._schema is None:
            schema_wanted = ConfigError(
                f"the {self.format} serde of {topic} has no schema to write with: give it one"
            )

            def refuse(value: Any) -> bytes | None:
                raise schema_wanted

            return refuse
        return _late(lambda: self._serializer(topic, is_key))

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        return _late(lambda: self._deserializer(topic, is_key))

    def _serializer(self, topic: str, is_key: bool) -> Encoder:
        raise NotImplementedError

    def _deserializer(self, topic: str, is_key: bool) -> Decoder:
        raise NotImplementedError

    def _client(self) -> Any:
        return registry_client(self._url, self._settings)


class AvroSerde(_RegistrySerde):
    """Values are dicts with the fields of the schema."""

    format = "avro"

    def _serializer(self, topic: str, is_key: bool) -> Encoder:
        from confluent_kafka.schema_registry.avro import AvroSerializer

        return _bound(AvroSerializer(self._client(), self._schema), topic, is_key)

    def _deserializer(self, topic: str, is_key: bool) -> Decoder:
        from confluent_kafka.schema_registry.avro import AvroDeserializer

        return _bound(AvroDeserializer(self._client(), self._schema), topic, is_key)


class JsonSchemaSerde(_RegistrySerde):
    """Values are dicts, checked against the schema."""

    format = "json-schema"

    def _serializer(self, topic: str, is_key: bool) -> Encoder:
        from confluent_kafka.schema_registry.json_schema import JSONSerializer

        return _bound(JSONSerializer(self._schema, self._client()), topic, is_key)

    def _deserializer(self, topic: str, is_key: bool) -> Decoder:
        from confluent_kafka.schema_registry.json_schema import JSONDeserializer

        return _bound(JSONDeserializer(self._schema, schema_registry_client=self._client()), topic, is_key)


class ProtobufSerde(_RegistrySerde):
    """Values are messages of a generated class, which must be importable where the topology runs."""

    format = "protobuf"

    def __init__(self, registry_url: str, message: type, **client_settings: str) -> None:
        super().__init__(registry_url, f"{message.__module__}.{message.__qualname__}", **client_settings)
        self._message = message

    @property
    def gives(self) -> frozenset[type]:
        return frozenset({self._message})

    @property
    def takes(self) -> frozenset[type]:
        return frozenset({self._message})

    def _serializer(self, topic: str, is_key: bool) -> Encoder:
        from confluent_kafka.schema_registry.protobuf import ProtobufSerializer

        settings = {"use.deprecated.format": False}
        return _bound(ProtobufSerializer(self._message, self._client(), settings), topic, is_key)

    def _deserializer(self, topic: str, is_key: bool) -> Decoder:
        from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer

        settings = {"use.deprecated.format": False}
        return _bound(
            ProtobufDeserializer(self._message, settings, schema_registry_client=self._client()),
            topic,
            is_key,
        )


@cache
def registry_client(url: str, settings: tuple[tuple[str, str], ...]) -> Any:
    """One client, with its cache of schemas, for each registry and settings in a process."""
    from confluent_kafka.schema_registry import SchemaRegistryClient

    return SchemaRegistryClient.new_client({"url": url, **dict(settings)})


def service_away(failure: Exception) -> ServiceAway | None:
    """What a failed call of the registry client means, if it means that the registry is unavailable."""
    from confluent_kafka.schema_registry.error import SchemaRegistryError

    if isinstance(failure, SchemaRegistryError):
        if failure.http_status_code >= SERVER_ERRORS_FROM:
            return ServiceAway(f"the schema registry cannot answer now: {failure}")
    elif _is_of_transport(failure):
        return ServiceAway(f"the schema registry does not answer: {failure}")
    return None


def _bound(codec: Callable[[Any, Any], Any], topic: str, is_key: bool) -> Callable[[Any], Any]:
    """Distinguishes an unavailable registry from a wrong record."""
    from confluent_kafka.serialization import MessageField, SerializationContext

    context = SerializationContext(topic, MessageField.KEY if is_key else MessageField.VALUE)

    def bound(value: Any) -> Any:
        try:
            return None if value is None else codec(value, context)
        except Exception as failure:
            away = service_away(failure)
            if away is not None:
                raise away from failure
            raise

    return bound


def _is_of_transport(failure: Exception) -> bool:
    """By name, because the registry client may change its HTTP library."""
    return isinstance(failure, OSError) or any(
        kind.__name__ == "TransportError" for kind in type(failure).__mro__
    )


def _late(make: Callable[[], Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Asks the registry when the first record comes, not when the topology is built."""
    made: list[Callable[[Any], Any]] = []

    def codec(value: Any) -> Any:
        if not made:
            made.append(make())
        return made[0](value)

    return codec
