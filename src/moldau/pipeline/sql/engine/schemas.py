"""The schemas that statements register for the topics they define."""

from moldau.pipeline.sql.definitions import Format, SourceInfo
from moldau.pipeline.sql.engine.completion import SIDES, subject_need
from moldau.pipeline.sql.engine.decision import NewSchema
from moldau.pipeline.sql.engine.facts import Facts, SubjectNeed
from moldau.pipeline.sql.engine.formats import ability, without_registry
from moldau.pipeline.sql.engine.with_properties import WithProperties
from moldau.pipeline.sql.formats.infer import generated_schema, inferred_columns
from moldau.pipeline.sql.types import Column


def missing_schemas(source: SourceInfo, said: WithProperties, facts: Facts) -> tuple[NewSchema, ...]:
    """Of a stream or table over a topic: where there is a schema already, it stays."""
    wanted = [side for side in SIDES if subject_need(source.topic, side, said) not in facts.schemas]
    found = [generated(source, side) for side in wanted if said.get(f"{side}_SCHEMA_ID") is None]
    return tuple(one for one in found if one is not None)


def schemas_of(target: SourceInfo, said: WithProperties, facts: Facts) -> tuple[NewSchema, ...]:
    """Of what a query fills: its own, or those that the statement names by their ids."""
    found = []
    for side in SIDES:
        need = subject_need(target.topic, side, said)
        one = generated(target, side) if need.schema_id is None else _named(target, need, side, said, facts)
        found += [] if one is None else [one]
    return tuple(found)


def _named(target: SourceInfo, need: SubjectNeed, side: str, said: WithProperties, facts: Facts) -> NewSchema:
    """SqlError where the schema has not all the columns of the query."""
    name = f"{side}_SCHEMA_ID"
    schema = facts.schemas.get(need)
    if schema is None:
        raise said.wrong(name, f"the registry has no schema with the id {need.schema_id}")
    form, columns = format_and_columns(target, side)
    known = inferred_columns(form, schema, is_key=side == "KEY")
    missing = [str(column) for column in columns if column not in known]
    if missing:
        raise said.wrong(
            name,
            f"the schema {need.schema_id} lacks columns of the query, or has others: {', '.join(missing)}",
            f"Its columns are {', '.join(map(str, known))}.",
        )
    return NewSchema(need.subject, schema)


def format_and_columns(source: SourceInfo, side: str) -> tuple[Format, tuple[Column, ...]]:
    """Of the keys or the values, as the registry knows them."""
    if side == "KEY":
        return without_registry(source.key_format), source.schema.key
    return without_registry(source.value_format), source.stored_columns


def generated(source: SourceInfo, side: str) -> NewSchema | None:
    """None for a format without schemas, and for a key without columns."""
    form, columns = format_and_columns(source, side)
    if not ability(form.name).has_schemas:
        return None
    schema = generated_schema(form, columns, is_key=side == "KEY")
    return None if schema is None else NewSchema(f"{source.topic}-{side.lower()}", schema)
