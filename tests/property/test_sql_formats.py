"""A row that is written in a format is read back, whatever its columns are."""

import itertools
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats import row_serde
from moldau.pipeline.sql.formats.infer import generated_schema, inferred_columns
from moldau.pipeline.sql.types import (
    BIGINT,
    BIGINT_MAX,
    BIGINT_MIN,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    INTEGER_MAX,
    INTEGER_MIN,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Column,
    Map,
    SqlType,
    Struct,
)
from moldau.pipeline.sql.types import Decimal as DecimalType

FEW = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
DAYS = (-719_162, 2_932_896)
"""Of the years 1 to 9999."""

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES: dict[SqlType, st.SearchStrategy[Any]] = {
    BOOLEAN: st.booleans(),
    INTEGER: st.integers(INTEGER_MIN, INTEGER_MAX),
    BIGINT: st.integers(BIGINT_MIN, BIGINT_MAX),
    DOUBLE: st.floats(allow_nan=False),
    STRING: TEXT,
    BYTES: st.binary(max_size=12),
    DATE: st.integers(*DAYS),
    TIME: st.integers(0, 86_399_999),
    TIMESTAMP: st.integers(BIGINT_MIN, BIGINT_MAX),
}
DECIMALS = st.integers(1, 38).flatmap(
    lambda precision: st.integers(0, precision).map(lambda scale: DecimalType(precision, scale))
)
FLAT = st.one_of(st.sampled_from(list(VALUES)), DECIMALS)
NAMES = st.lists(
    st.builds(str.__add__, st.sampled_from("ABCXYZ"), st.text("ABCXYZ_19", max_size=4)),
    unique=True,
    min_size=1,
    max_size=5,
)


def nested(inner: st.SearchStrategy[SqlType]) -> st.SearchStrategy[SqlType]:
    return st.one_of(
        inner.map(Array),
        inner.map(lambda of: Map(STRING, of)),
        NAMES.flatmap(lambda names: struct(names, inner)),
    )


def struct(names: Sequence[str], inner: st.SearchStrategy[SqlType]) -> st.SearchStrategy[SqlType]:
    return st.tuples(*(inner for _ in names)).map(lambda kinds: Struct(list(zip(names, kinds, strict=True))))


ANY = st.recursive(FLAT, nested, max_leaves=4)


def of_protobuf(inner: st.SearchStrategy[SqlType]) -> st.SearchStrategy[SqlType]:
    """Arrays and maps are not inside one another."""
    return st.one_of(inner, inner.map(Array), inner.map(lambda of: Map(STRING, of)))


ANY_OF_PROTOBUF = of_protobuf(
    st.recursive(
        FLAT, lambda inner: NAMES.flatmap(lambda names: struct(names, of_protobuf(inner))), max_leaves=3
    )
)


def columns_of(kinds: st.SearchStrategy[SqlType]) -> st.SearchStrategy[tuple[Column, ...]]:
    return NAMES.flatmap(
        lambda names: st.tuples(*(st.builds(Column, st.just(name), kinds) for name in names))
    )


def value(kind: SqlType, *, nullable: bool = True) -> st.SearchStrategy[Any]:
    """`nullable`: whether nulls may be inside arrays and maps."""
    found: st.SearchStrategy[Any]
    match kind:
        case DecimalType(precision=precision, scale=scale):
            limit = 10**precision - 1
            found = st.integers(-limit, limit).map(lambda unscaled: Decimal(f"{unscaled}E-{scale}"))
        case Array(element=element):
            found = st.lists(within(element, nullable), max_size=3)
        case Map(value=of):
            found = st.dictionaries(TEXT, within(of, nullable), max_size=3)
        case Struct(fields=fields):
            found = st.fixed_dictionaries(
                {name: st.none() | value(of, nullable=nullable) for name, of in fields}
            )
        case _:
            found = VALUES[kind]
    return found


def within(kind: SqlType, nullable: bool) -> st.SearchStrategy[Any]:
    found = value(kind, nullable=nullable)
    return st.none() | found if nullable else found


def rows(
    kinds: st.SearchStrategy[SqlType], *, nullable: bool = True
) -> st.SearchStrategy[tuple[tuple[Column, ...], tuple[Any, ...]]]:
    return columns_of(kinds).flatmap(
        lambda columns: st.tuples(
            st.just(columns), st.tuples(*(st.none() | value(one.type, nullable=nullable) for one in columns))
        )
    )


def again(serde: Serde, row: Any, *, is_key: bool = False) -> Any:
    topic = f"topic-{next(_numbers)}"
    data = serde.encoder(topic, is_key=is_key)(row)
    return serde.decoder(topic, is_key=is_key)(data)


_numbers = itertools.count(1)
REGISTRY = (("SCHEMA_REGISTRY_URL", "mock://properties"),)
"""The client's registry in memory."""


@pytest.mark.parametrize("name", ["JSON", "AVRO", "JSON_SR"])
@FEW
@given(data=st.data())
def test_rows_of_any_types(name: str, data: st.DataObject) -> None:
    columns, row = data.draw(rows(ANY))
    form = Format(name, REGISTRY)
    assert again(row_serde(form, columns, is_key=False), row) == row


@pytest.mark.parametrize("name", ["JSON", "AVRO", "JSON_SR", "KAFKA"])
@FEW
@given(data=st.data())
def test_a_column_by_itself(name: str, data: st.DataObject) -> None:
    held = st.sampled_from([INTEGER, BIGINT, DOUBLE, STRING, BYTES]) if name == "KAFKA" else ANY
    kind = data.draw(held)
    row = (data.draw(value(kind)),)
    serde = row_serde(Format(name, REGISTRY, is_wrapped=False), [Column("A", kind)], is_key=True)
    assert again(serde, row, is_key=True) == row


@pytest.mark.parametrize("delimiter", [",", "TAB", "SPACE", "|", "a"])
@FEW
@given(case=rows(FLAT))
def test_delimited_rows(delimiter: str, case: tuple[tuple[Column, ...], tuple[Any, ...]]) -> None:
    columns, row = case
    serde = row_serde(Format("DELIMITED", (("DELIMITER", delimiter),)), columns, is_key=False)
    assert again(serde, row) == tuple(None if one in ("", b"") else one for one in row)


@pytest.mark.parametrize("name", ["PROTOBUF", "PROTOBUF_NOSR"])
@pytest.mark.parametrize("nullable", ["OPTIONAL", "WRAPPER"])
@FEW
@given(case=rows(ANY_OF_PROTOBUF, nullable=False))
def test_protobuf_rows(name: str, nullable: str, case: tuple[tuple[Column, ...], tuple[Any, ...]]) -> None:
    columns, row = case
    said = (("PROTOBUF_NULLABLE_REPRESENTATION", nullable),)
    serde = row_serde(Format(name, REGISTRY + said), columns, is_key=False)
    expected = tuple(without_null_lists(one.type, found) for one, found in zip(columns, row, strict=True))
    assert again(serde, row) == expected


def without_null_lists(kind: SqlType, found: Any) -> Any:
    """A repeated field cannot be null: it is empty."""
    match kind:
        case Array(element=element):
            return [without_null_lists(element, one) for one in found or []]
        case Map(value=of):
            return {name: without_null_lists(of, one) for name, one in (found or {}).items()}
        case Struct(fields=fields) if found is not None:
            return {name: without_null_lists(of, found[name]) for name, of in fields}
    return found


@pytest.mark.parametrize("name", ["AVRO", "JSON_SR", "PROTOBUF"])
@FEW
@given(data=st.data())
def test_columns_are_inferred_from_the_schema_of_columns(name: str, data: st.DataObject) -> None:
    columns = data.draw(columns_of(ANY_OF_PROTOBUF if name == "PROTOBUF" else ANY))
    schema = generated_schema(Format(name), columns, is_key=False)
    assert schema is not None
    assert inferred_columns(Format(name), schema, is_key=False) == columns
