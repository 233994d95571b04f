"""Schemas in the registry, over HTTP: the only module here with I/O.

A registry that does not answer is a RetriableError. What it rejects or does not have is a DataError with its reason.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from moldau.pipeline.connect.api import RetriableError
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.serdes.registry import registry_client, service_away

T = TypeVar("T")
_FORM: Final = "serialized"
"""Protobuf as a descriptor; it has no meaning for the others."""


class StoredSchema(NamedTuple):
    """`kind` is AVRO, JSON or PROTOBUF. `references` are the texts it refers to by their names, dependencies first."""

    kind: str
    text: str
    id: int
    references: Mapping[str, str]


class SchemaStore:
    def __init__(self, url: str, settings: Mapping[str, str], *, normalizes: bool) -> None:
        self.url = url
        self._settings = tuple(sorted(settings.items()))
        self._normalizes = normalizes

    def by_id(self, schema_id: int) -> StoredSchema:
        what = f"the schema with the id {schema_id}"
        found = self._ask(lambda client: client.get_schema(schema_id, fmt=_FORM), what)
        return self._stored(found, schema_id)

    def latest(self, subject: str) -> StoredSchema:
        what = f"the latest schema of the subject {subject}"
        found = self._ask(lambda client: client.get_version(subject, "latest", fmt=_FORM), what)
        return self._stored(found.schema, found.schema_id)

    def register(self, subject: str, kind: str, text: str) -> int:
        from confluent_kafka.schema_registry import Schema

        schema = Schema(text, kind)
        return self._ask(
            lambda client: int(client.register_schema(subject, schema, normalize_schemas=self._normalizes)),
            f"the {kind} schema of the subject {subject}",
        )

    def registered(self, subject: str, kind: str, text: str) -> int:
        """The id of a schema that must be there."""
        from confluent_kafka.schema_registry import Schema

        schema = Schema(text, kind)
        found = self._ask(
            lambda client: client.lookup_schema(subject, schema, normalize_schemas=self._normalizes),
            f"the record's {kind} schema under the subject {subject} (auto.register.schemas is false: register it "
            "first, or set use.latest.version=true)",
        )
        return int(found.schema_id)

    def _ask(self, ask: Callable[[Any], T], what: str) -> T:
        from confluent_kafka.schema_registry.error import SchemaRegistryError

        try:
            return ask(registry_client(self.url, self._settings))
        except Exception as failure:
            away = service_away(failure)
            if away is not None:
                raise RetriableError(f"{what}: {away}. Is {self.url} right, and does it run?") from failure
            if isinstance(failure, SchemaRegistryError):
                raise DataError(
                    f"the schema registry at {self.url} does not have or does not take {what}: "
                    f"{failure.error_message} ({failure.http_status_code})"
                ) from failure
            raise

    def _stored(self, schema: Any, schema_id: int) -> StoredSchema:
        references: dict[str, str] = {}
        self._collect(schema, references)
        return StoredSchema(schema.schema_type or "AVRO", schema.schema_str, schema_id, references)

    def _collect(self, schema: Any, into: dict[str, str]) -> None:
        for one in schema.references or ():
            if one.name in into:
                continue
            found = self._ask(
                lambda client, one=one: client.get_version(one.subject, one.version, fmt=_FORM),  # type: ignore[misc]
                f"version {one.version} of {one.subject}, which a schema refers to",
            )
            self._collect(found.schema, into)
            into[one.name] = found.schema.schema_str
