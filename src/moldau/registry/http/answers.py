"""Schemas as clients receive them. Fields that old clients do not know are sent only on request."""

from typing import Any

from moldau.registry.entities import AVRO, Json, SchemaText, StoredSchema


def version_answer(stored: StoredSchema, *, extended: bool, text: str | None = None) -> Json:
    answer: Json = {"subject": stored.subject, "version": stored.version, "id": stored.id}
    if extended:
        answer["guid"] = stored.guid
    return _finished(
        {**answer, **_schema(stored.schema, extended=extended, text=text)}, stored, extended=extended
    )


def id_answer(
    stored: StoredSchema, *, extended: bool, text: str | None = None, id_max: int | None = None
) -> Json:
    answer: Json = {}
    if extended:
        answer = {"subject": stored.subject, "version": stored.version, "guid": stored.guid}
    answer |= _schema(stored.schema, extended=extended, text=text)
    if id_max is not None:
        answer["maxId"] = id_max
    return _finished(answer, stored, extended=extended)


def registered_answer(stored: StoredSchema, asked: SchemaText, *, extended: bool) -> Json:
    """Leaves the schema out unless it differs from what was asked for.

    Clients cache what they receive, and Python's Protobuf deserializer cannot use a text where it would have asked
    for a descriptor.
    """
    if not extended:
        return {"id": stored.id}
    answer: Json = {"id": stored.id, "version": stored.version, "guid": stored.guid}
    if (stored.schema.metadata, stored.schema.rule_set) == (asked.metadata, asked.rule_set):
        return answer
    return answer | _schema(stored.schema, extended=True, text=None)


def _schema(schema: SchemaText, *, extended: bool, text: str | None) -> Json:
    answer: dict[str, Any] = {}
    if extended or schema.schema_type != AVRO:
        answer["schemaType"] = schema.schema_type
    if schema.references:
        answer["references"] = [reference.to_json() for reference in schema.references]
    if schema.metadata is not None:
        answer["metadata"] = schema.metadata
    if schema.rule_set is not None:
        answer["ruleSet"] = schema.rule_set
    answer["schema"] = schema.text if text is None else text
    return answer


def _finished(answer: Json, stored: StoredSchema, *, extended: bool) -> Json:
    if extended and stored.timestamp_ms is not None:
        answer["ts"] = stored.timestamp_ms
    if extended:
        answer["deleted"] = stored.deleted
    return answer
