"""The schemas that statements register for the topics they define."""

from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.completion import SIDES, subject_need
from moldau.pipeline.sql.engine.decision import NewSchema
from moldau.pipeline.sql.engine.facts import Facts, SubjectNeed
from moldau.pipeline.sql.engine.formats import ability, without_registry
from moldau.pipeline.sql.engine.with_properties import WithProperties
from moldau.pipeline.sql.formats.infer import generated_schema


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
        one = generated(target, side) if need.schema_id is None else _named(need, side, said, facts)
        found += [] if one is None else [one]
    return tuple(found)


def _named(need: SubjectNeed, side: str, said: WithProperties, facts: Facts) -> NewSchema:
    schema = facts.schemas.get(need)
    if schema is None:
        raise said.wrong(f"{side}_SCHEMA_ID", f"the registry has no schema with the id {need.schema_id}")
    return NewSchema(need.subject, schema)


def generated(source: SourceInfo, side: str) -> NewSchema | None:
    """None for a format without schemas, and for a key without columns."""
    is_key = side == "KEY"
    form = source.key_format if is_key else source.value_format
    if not ability(form.name).has_schemas:
        return None
    columns = source.schema.key if is_key else source.stored_columns
    schema = generated_schema(without_registry(form), columns, is_key=is_key)
    return None if schema is None else NewSchema(f"{source.topic}-{side.lower()}", schema)
