"""CREATE ... AS SELECT and INSERT INTO ... SELECT: the statements that start queries."""

import re
from dataclasses import replace
from typing import Final

from moldau.pipeline.plan.nodes import OffsetReset
from moldau.pipeline.sql.definitions import Format, SourceInfo
from moldau.pipeline.sql.engine.formats import (
    key_format_of,
    value_format_of,
    with_registry,
    without_registry,
)
from moldau.pipeline.sql.engine.rules.logged import Logged, existing, nothing_to_create, replaced
from moldau.pipeline.sql.engine.rules.outline import Outline, outline_of
from moldau.pipeline.sql.engine.rules.query_properties import offset_reset_of
from moldau.pipeline.sql.engine.rules.replacement import check_query_replacement, check_source_replacement
from moldau.pipeline.sql.engine.rules.sources import KEY_FORMAT_DEFAULT, time_column
from moldau.pipeline.sql.engine.state import Change, PersistentQuery
from moldau.pipeline.sql.engine.with_properties import COMMON, OF_INSERT, WithProperties, read_properties
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree.statements import CreateAsSelect, InsertSelect, Kind
from moldau.pipeline.sql.types import Column

_OTHER: Final = re.compile(r"[^A-Za-z0-9_]")
"""What the id of a query does not contain: it becomes part of the names of topics."""
KEY_FORMAT_OF_MANY: Final = "JSON"
"""Of keys that KAFKA, the default, cannot hold."""


def create_as_select(statement: CreateAsSelect, on: Logged) -> Change:
    nothing = nothing_to_create(statement, on.defined)
    if nothing is not None:
        return nothing
    old, outline = replaced(statement, on.defined), outline_of(statement.query, on)
    target = target_of(statement, outline, on)
    _check_topic(outline, target, statement)
    query_id = f"C{statement.kind.value[0]}AS_{_OTHER.sub('_', statement.name).upper()}_{on.offset}"
    query = _query(query_id, outline, target, on)
    if old is not None:
        check_source_replacement(old, target, on.defined, statement.at, is_query=True)
        running = on.defined.own_query(old.name)
        if running is not None:
            check_query_replacement(running, statement.query, outline, target, on, statement.at)
            query = replace(query, id=running.id, state=running.state, begin=running.begin)
    return Change(
        f"Created query with ID {query.id}",
        sources=(target,),
        queries=(query,),
        created_from={target.name: query.sources},
        query_id=query.id,
    )


def insert_select(statement: InsertSelect, on: Logged) -> Change:
    said = read_properties(statement.properties, OF_INSERT)
    target = existing(statement.target, statement.at, on.defined)
    outline = outline_of(statement.query, on)
    _check_insert(statement, target, outline)
    _check_topic(outline, target, statement)
    query_id = str(said.get("QUERY_ID") or f"INSERTQUERY_{on.offset}").upper()
    if _OTHER.search(query_id):
        hint = "Use letters, digits and underscores: it becomes part of the names of topics."
        raise said.wrong("QUERY_ID", f"{query_id} cannot be the id of a query", hint)
    if query_id in on.defined.queries:
        raise said.wrong("QUERY_ID", f"a query {query_id} exists already", "SHOW QUERIES; lists them.")
    query = replace(_query(query_id, outline, target, on), kind="INSERT")
    return Change(f"Created query with ID {query_id}", queries=(query,), query_id=query_id)


def _query(query_id: str, outline: Outline, target: SourceInfo, on: Logged) -> PersistentQuery:
    inputs = {one.name: one for one in outline.inputs}
    return PersistentQuery(
        query_id,
        "CREATE_AS",
        on.text,
        tuple(inputs),
        target.name,
        on.query_properties,
        version=on.offset,
        inputs=tuple(inputs.values()),
        target=target,
        types=on.defined.types,
        begin={} if offset_reset_of(on.query_properties) is OffsetReset.EARLIEST else on.begin,
    )


def target_of(statement: CreateAsSelect, outline: Outline, on: Logged) -> SourceInfo:
    """The stream or table that the query fills."""
    if outline.kind is not statement.kind:
        hint = f"Write CREATE {outline.kind} {statement.name} AS SELECT."
        raise SqlError(
            f"the query makes a {outline.kind}, not a {statement.kind}", statement.query.at, hint=hint
        )
    said = read_properties(statement.properties, COMMON)
    first, schema = outline.inputs[0], outline.schema
    return SourceInfo(
        statement.name,
        statement.kind,
        schema,
        said.get("KAFKA_TOPIC") or statement.name,
        with_registry(_key_format(said, schema.key, first), on.registry),
        with_registry(_value_format(said, schema.value, first), on.registry),
        outline.window,
        time_column(said, schema.value),
        said.get("TIMESTAMP_FORMAT"),
        statement=on.text,
    )


def _key_format(said: WithProperties, columns: tuple[Column, ...], first: SourceInfo) -> Format:
    if said.key_format is not None:
        return key_format_of(said.key_format, said, columns)
    inherited = without_registry(first.key_format)
    name = KEY_FORMAT_DEFAULT if inherited.name == "NONE" and columns else inherited.name
    if not can_hold(name, said, columns):
        name = KEY_FORMAT_OF_MANY
    return _with_delimiter(key_format_of(name, said, columns), inherited)


def can_hold(name: str, said: WithProperties, columns: tuple[Column, ...]) -> bool:
    """Whether KAFKA can hold a key. Other formats report what they cannot hold."""
    if name != "KAFKA":
        return True
    try:
        key_format_of(name, said, columns)
    except SqlError:
        return False
    return True


def _value_format(said: WithProperties, columns: tuple[Column, ...], first: SourceInfo) -> Format:
    inherited = without_registry(first.value_format)
    form = value_format_of(said.value_format or inherited.name, said, columns)
    return form if said.value_format is not None else _with_delimiter(form, inherited)


def _with_delimiter(form: Format, inherited: Format) -> Format:
    """A format that is taken over from what the query reads has the same delimiter."""
    own = dict(form.properties)
    found = dict(inherited.properties).get("DELIMITER")
    if form.name != inherited.name or found is None or "DELIMITER" in own:
        return form
    return replace(form, properties=(("DELIMITER", found), *form.properties))


def _check_topic(outline: Outline, target: SourceInfo, statement: CreateAsSelect | InsertSelect) -> None:
    for one in outline.inputs:
        if one.topic == target.topic:
            raise SqlError(
                f"the query would read what it writes: {one.name} and {target.name} are over the topic "
                f"{target.topic}",
                statement.at,
                hint="Write to another topic.",
            )


def _check_insert(statement: InsertSelect, target: SourceInfo, outline: Outline) -> None:
    at = statement.at
    if target.is_table:
        hint = "A table is filled by CREATE TABLE AS SELECT, or by INSERT INTO ... VALUES."
        raise SqlError(f"INSERT INTO ... SELECT fills streams, and {target.name} is a table", at, hint=hint)
    if target.is_read_only:
        hint = "Create a stream over the same topic without SOURCE."
        raise SqlError(f"{target.name} is a SOURCE stream, so it is read only", at, hint=hint)
    if target.headers:
        names = ", ".join(one.column for one in target.headers)
        raise SqlError(f"{target.name} has columns from headers, which cannot be written: {names}", at)
    if outline.kind is not Kind.STREAM:
        hint = f"CREATE TABLE name AS SELECT keeps it; {target.name} is a stream."
        raise SqlError("the query makes a TABLE, and INSERT INTO needs a STREAM", at, hint=hint)
    expected = [column.type for column in target.schema.key], target.schema.value
    found = [column.type for column in outline.schema.key], outline.schema.value
    if expected != found or outline.window != target.window:
        expected_text = ", ".join(map(str, target.schema))
        hint = f"{target.name} has {expected_text}; the SELECT gives {', '.join(map(str, outline.schema))}."
        raise SqlError(f"the columns of the SELECT are not those of {target.name}", at, hint=hint)
