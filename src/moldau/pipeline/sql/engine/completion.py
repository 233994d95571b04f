"""Statements made complete before they are logged: what they leave to the server's settings, to the registry and to
topics is written out, so that every server that replays them comes to the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from moldau.pipeline.sql.definitions import Format, SourceInfo
from moldau.pipeline.sql.engine.columns import column_text, is_key
from moldau.pipeline.sql.engine.facts import Facts, SubjectNeed
from moldau.pipeline.sql.engine.formats import ability, without_registry
from moldau.pipeline.sql.engine.rules.sources import KEY_FORMAT_DEFAULT
from moldau.pipeline.sql.engine.with_properties import OF_CREATE, WithProperties, column_of, read_properties
from moldau.pipeline.sql.formats.infer import inferred_columns
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.printing import expression_text
from moldau.pipeline.sql.syntax.tree.expressions import Constant
from moldau.pipeline.sql.syntax.tree.statements import (
    ColumnDefinition,
    Constraint,
    CreateAsSelect,
    CreateSource,
    Kind,
    Property,
)
from moldau.pipeline.sql.types import quoted

KEY_FORMAT_SETTING: Final = "ksql.persistence.default.format.key"
VALUE_FORMAT_SETTING: Final = "ksql.persistence.default.format.value"
WRAP_SETTING: Final = "ksql.persistence.wrap.single.values"
SIDES: Final = ("KEY", "VALUE")
S = TypeVar("S", CreateSource, CreateAsSelect)


@dataclass(frozen=True, slots=True)
class Complete(Generic[S]):
    statement: S
    """Its positions are those of what the user wrote."""
    text: str
    warnings: tuple[str, ...] = ()


def complete_source(statement: CreateSource, facts: Facts) -> Complete[CreateSource]:
    said = read_properties(statement.properties, OF_CREATE)
    columns, warnings = _with_old_key(statement, said)
    given = _without(statement.properties, "KEY")
    given = _with_formats(given, said, facts.settings, statement)
    said = read_properties(given, OF_CREATE)
    topic = said.get("KAFKA_TOPIC") or statement.name
    columns = _with_inferred(replace(statement, columns=columns), said, topic, facts)
    stored = [one for one in columns if one.constraint is Constraint.NONE]
    given = _with_wrapping(given, said.value_format or "", len(stored), facts)
    given = with_properties(given, KAFKA_TOPIC=topic)
    made = replace(statement, columns=columns, properties=given)
    return Complete(made, source_text(made), warnings)


def complete_query(
    statement: CreateAsSelect, text: str, target: SourceInfo, *, partitions: int, replicas: int
) -> Complete[CreateAsSelect]:
    """`target` is what the statement makes as it stands; `text` is the statement's own."""
    more: dict[str, str | int] = {"KAFKA_TOPIC": target.topic, "PARTITIONS": partitions}
    if replicas > 0:
        more["REPLICAS"] = replicas
    given = statement.properties
    for side, form in zip(SIDES, (target.key_format, target.value_format), strict=True):
        if not _names(given) & {"FORMAT", f"{side}_FORMAT"}:
            more[f"{side}_FORMAT"] = form.name
        delimiter = dict(without_registry(form).properties).get("DELIMITER")
        if delimiter is not None:
            more[f"{side}_DELIMITER"] = delimiter
    made = replace(statement, properties=with_properties(given, **more))
    return Complete(made, f"{_head(made)}\n{_with_text(made.properties)} AS\n{_query_text(text)}")


def source_text(statement: CreateSource) -> str:
    columns = ", ".join(column_text(one) for one in statement.columns)
    return f"{_head(statement)} ({columns})\n{_with_text(statement.properties)};"


def _head(statement: CreateSource | CreateAsSelect) -> str:
    words = ["CREATE"]
    words += ["OR REPLACE"] if statement.or_replace else []
    words += ["SOURCE"] if isinstance(statement, CreateSource) and statement.is_source else []
    words += [statement.kind.value]
    words += ["IF NOT EXISTS"] if statement.if_not_exists else []
    return " ".join([*words, quoted(statement.name)])


def _with_text(properties: Sequence[Property]) -> str:
    return f"WITH ({', '.join(f'{one.name.upper()}={expression_text(one.value)}' for one in properties)})"


def _query_text(text: str) -> str:
    """The SELECT of a statement, as it was written."""
    statement = parse(text)[0].statement
    assert isinstance(statement, CreateAsSelect)
    at = statement.query.at
    lines = text.split("\n")
    written = "\n".join([lines[at.line - 1][at.column - 1 :], *lines[at.line :]]).rstrip()
    return written if written.endswith(";") else f"{written};"


# Properties


def with_properties(given: Sequence[Property], **more: str | int | bool) -> tuple[Property, ...]:
    """Those that are given stay."""
    known = _names(given)
    added = [Property(name, _constant(value)) for name, value in more.items() if name not in known]
    return (*given, *added)


def _names(given: Sequence[Property]) -> set[str]:
    return {one.name.upper() for one in given}


def _without(given: Sequence[Property], name: str) -> tuple[Property, ...]:
    return tuple(one for one in given if one.name.upper() != name)


def _constant(value: str | int | bool) -> Constant:
    if isinstance(value, bool):
        return Constant("BOOLEAN", value)
    return Constant("INTEGER", value) if isinstance(value, int) else Constant("STRING", value)


def _with_formats(
    given: tuple[Property, ...], said: WithProperties, settings: Mapping[str, str], statement: CreateSource
) -> tuple[Property, ...]:
    if said.key_format is None:
        given = with_properties(given, KEY_FORMAT=settings.get(KEY_FORMAT_SETTING) or KEY_FORMAT_DEFAULT)
    if said.value_format is None:
        default = settings.get(VALUE_FORMAT_SETTING)
        if not default:
            hint = "Add VALUE_FORMAT='JSON', or another format."
            raise SqlError(
                f"the WITH of {statement.name} has no VALUE_FORMAT, and the server has no default for it",
                statement.at,
                hint=hint,
            )
        given = with_properties(given, VALUE_FORMAT=default.upper())
    return given


def with_wrapping(statement: CreateAsSelect, target: SourceInfo, facts: Facts) -> CreateAsSelect:
    """With what the server's settings say of values of a single column."""
    given = _with_wrapping(statement.properties, target.value_format.name, len(target.stored_columns), facts)
    return replace(statement, properties=given)


def _with_wrapping(
    given: tuple[Property, ...], form: str, columns: int, facts: Facts
) -> tuple[Property, ...]:
    default = facts.settings.get(WRAP_SETTING)
    if default and columns == 1 and ability(form).wraps_by_choice:
        return with_properties(given, WRAP_SINGLE_VALUE=default.lower() == "true")
    return given


# Columns


def _with_old_key(
    statement: CreateSource, said: WithProperties
) -> tuple[tuple[ColumnDefinition, ...], tuple[str, ...]]:
    """KSQL 5 named the key column among the properties: KEY='user_id'."""
    if "KEY" not in said:
        return statement.columns, ()
    name = column_of(said.get("KEY"))
    names = [one.name for one in statement.columns]
    if name not in names:
        hint = did_you_mean(name, names) or f"The columns are {', '.join(names)}."
        raise said.wrong("KEY", f"the KEY column {name} does not exist", hint)
    constraint = Constraint.PRIMARY_KEY if statement.kind is Kind.TABLE else Constraint.KEY
    columns = tuple(
        replace(one, constraint=constraint) if one.name == name else one for one in statement.columns
    )
    today = column_text(next(one for one in columns if one.name == name))
    return columns, (
        f"KEY='{said.get('KEY')}' is the form of KSQL 5. Today the column itself says it: {today}. "
        "Its values are read from the record's key.",
    )


def subjects_needed(topic: str, said: WithProperties) -> tuple[SubjectNeed, ...]:
    """Of the sides that may have a schema in the registry."""
    formats = (said.key_format, said.value_format)
    return tuple(
        subject_need(topic, side, said)
        for side, name in zip(SIDES, formats, strict=True)
        if name is None or ability(name).has_schemas
    )


def subject_need(topic: str, side: str, said: WithProperties) -> SubjectNeed:
    return SubjectNeed(f"{topic}-{side.lower()}", said.get(f"{side}_SCHEMA_ID"))


def _with_inferred(
    statement: CreateSource, said: WithProperties, topic: str, facts: Facts
) -> tuple[ColumnDefinition, ...]:
    """The columns of a side that the statement says nothing of come from its schema."""
    has_keys = any(is_key(one) for one in statement.columns)
    has_values = any(one.constraint is Constraint.NONE for one in statement.columns)
    for side, is_declared in zip(SIDES, (has_keys, has_values), strict=True):
        if is_declared and f"{side}_SCHEMA_ID" in said:
            message = f"{side}_SCHEMA_ID says what the {side.lower()}'s columns are, and the statement declares some"
            raise said.wrong(f"{side}_SCHEMA_ID", message, "Leave the columns out, or the property.")
    inferred = [] if has_keys else _inferred(statement, "KEY", said, topic, facts)
    inferred += [] if has_values else _inferred(statement, "VALUE", said, topic, facts)
    return (*statement.columns, *inferred)


def _inferred(
    statement: CreateSource, side: str, said: WithProperties, topic: str, facts: Facts
) -> list[ColumnDefinition]:
    name = (said.key_format if side == "KEY" else said.value_format) or ""
    if not ability(name).has_schemas:
        return []
    need = subject_need(topic, side, said)
    schema = facts.schemas.get(need)
    if schema is None:
        if side == "KEY" and statement.kind is Kind.STREAM:
            return []
        what = need.subject if need.schema_id is None else f"{need.subject} with the id {need.schema_id}"
        raise SqlError(
            f"{statement.name} says nothing of its {side.lower()} columns, and the registry has no schema for "
            f"{what}",
            statement.at,
            hint="Declare the columns, register the schema, or check ksql.schema.registry.url.",
        )
    is_wrapped = side == "VALUE" and said.get("WRAP_SINGLE_VALUE") is not False
    form = Format(name, said.of_format(side), is_wrapped)
    constraint = Constraint.NONE
    if side == "KEY":
        constraint = Constraint.PRIMARY_KEY if statement.kind is Kind.TABLE else Constraint.KEY
    return [
        ColumnDefinition(one.name, one.type, constraint, at=statement.at)
        for one in inferred_columns(form, schema, is_key=side == "KEY")
    ]
