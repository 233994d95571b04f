"""Schemas in the registry, over HTTP. The only module of this package with I/O."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from moldau.pipeline.serdes.registry import registry_client, service_away
from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats.subject_schema import SubjectSchema
from moldau.pipeline.sql.syntax.errors import SqlError

URL: Final = "SCHEMA_REGISTRY_URL"
SECRET: Final = ("SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO", "SCHEMA_REGISTRY_SSL_KEY_PASSWORD")
"""Properties that no description shows."""
_PREFIX: Final = "SCHEMA_REGISTRY_"
_FORM: Final = "serialized"
"""Protobuf as a descriptor; it has no meaning for the others."""
_NOT_FOUND: Final = 404
_REJECTED: Final = (409, 422)

Found = TypeVar("Found")


def subject_of(topic: str, *, is_key: bool) -> str:
    """TopicNameStrategy."""
    return f"{topic}-{'key' if is_key else 'value'}"


class SchemaFinder:
    """Finds and registers schemas. Raises `ServiceAway` while the registry does not answer.

    Holds no connection; each process keeps one client for each URL and settings.
    """

    def __init__(self, url: str, settings: Mapping[str, Any] | None = None) -> None:
        """`settings` are those of confluent-kafka's registry client."""
        self._url = url
        self._settings = tuple(sorted((settings or {}).items()))

    @property
    def url(self) -> str:
        return self._url

    def latest(self, subject: str) -> SubjectSchema | None:
        """The newest schema of a subject, with its id and references; None where there is no such subject."""
        found = self._found(lambda client: client.get_version(subject, "latest", fmt=_FORM))
        return None if found is None else self._schema(found.schema, found.schema_id, subject)

    def by_id(self, schema_id: int) -> SubjectSchema | None:
        found = self._found(lambda client: client.get_schema(schema_id, fmt=_FORM))
        return None if found is None else self._schema(found, schema_id, "")

    def registered(self, subject: str, schema: SubjectSchema) -> int:
        """The id of the schema under the subject, registered there if it was not. SqlError if it is rejected."""
        from confluent_kafka.schema_registry import Schema
        from confluent_kafka.schema_registry.error import SchemaRegistryError

        def register(client: Any) -> int:
            if schema.id is not None:
                return int(client.register_schema(subject, client.get_schema(schema.id, fmt=_FORM)))
            return int(client.register_schema(subject, Schema(schema.text, schema.type)))

        try:
            return self._ask(register)
        except SchemaRegistryError as refused:
            if refused.http_status_code not in _REJECTED:
                raise
            raise SqlError(
                f"the schema registry rejects the {schema.type} schema of the subject {subject}: "
                f"{refused.error_message}",
                hint="Declare columns that fit the schema that is there, or change the subject's compatibility level.",
            ) from None

    def delete(self, subject: str) -> None:
        """One that is not there is skipped. SqlError if the registry refuses."""
        self._found(lambda client: client.delete_subject(subject))

    def _found(self, ask: Callable[[Any], Found]) -> Found | None:
        from confluent_kafka.schema_registry.error import SchemaRegistryError

        try:
            return self._ask(ask)
        except SchemaRegistryError as refused:
            if refused.http_status_code == _NOT_FOUND:
                return None
            raise SqlError(f"the schema registry at {self._url} refuses to answer: {refused}") from None

    def _ask(self, ask: Callable[[Any], Found]) -> Found:
        try:
            return ask(registry_client(self._url, self._settings))
        except Exception as failure:
            away = service_away(failure)
            if away is not None:
                raise away from failure
            raise

    def _schema(self, found: Any, schema_id: int, subject: str) -> SubjectSchema:
        imports: dict[str, str] = {}
        self._collect(found, imports)
        return SubjectSchema(found.schema_str, found.schema_type, tuple(imports.items()), schema_id, subject)

    def _collect(self, schema: Any, imports: dict[str, str]) -> None:
        """What a schema refers to, dependencies first."""
        for one in schema.references or ():
            if one.name in imports:
                continue
            found = self._found(
                lambda client, one=one: client.get_version(one.subject, one.version, fmt=_FORM)  # type: ignore[misc]
            )
            if found is None:
                raise SqlError(f"the schema registry has no version {one.version} of {one.subject}")
            self._collect(found.schema, imports)
            imports[one.name] = found.schema.schema_str


def finder_of(form: Format) -> SchemaFinder:
    """By the properties of a format: the URL, and settings of the client such as
    SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO."""
    said = {name: value for name, value in form.properties if name.startswith(_PREFIX)}
    url = said.pop(URL, None)
    if url is None:
        raise SqlError(
            f"the format {form.name} needs a schema registry, and none is configured",
            hint="Set ksql.schema.registry.url, or use a format without schemas, such as JSON.",
        )
    settings = {name.removeprefix(_PREFIX).lower().replace("_", "."): value for name, value in said.items()}
    numbers = {name: int(value) for name, value in settings.items() if value.isdecimal()}
    return SchemaFinder(url, settings | numbers)
