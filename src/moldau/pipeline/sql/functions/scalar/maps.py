"""Functions of maps, which keep the order of their entries."""

from collections.abc import Sequence
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import (
    ArrayOf,
    Category,
    Form,
    MapOf,
    Parameter,
    Scalar,
    Variable,
)
from moldau.pipeline.sql.functions.scalar.ordering import first_type
from moldau.pipeline.sql.types import BOOLEAN, STRING, Array, Map, SqlType, Struct


def as_map(keys: list[str], values: list[Any]) -> dict[str, Any]:
    """A key for which there is no value gets null."""
    return {key: values[place] if place < len(values) else None for place, key in enumerate(keys)}


def entries(of: dict[str, Any], is_sorted: bool) -> list[dict[str, Any]]:
    return [{"K": key, "V": of[key]} for key in (sorted(of) if is_sorted else of)]


def map_keys(of: dict[Any, Any]) -> list[Any]:
    return list(of)


def map_values(of: dict[Any, Any]) -> list[Any]:
    return list(of.values())


def map_union(left: dict[Any, Any] | None, right: dict[Any, Any] | None) -> dict[Any, Any] | None:
    if left is None or right is None:
        return right if left is None else left
    return {**left, **right}


_K: Final = Variable("K")
_V: Final = Variable("V")
_MAP: Final = Parameter("map", MapOf(_K, _V))


def _entries_type(types: Sequence[SqlType]) -> SqlType:
    kind = first_type(types)
    assert isinstance(kind, Map)
    return Array(Struct([("K", STRING), ("V", kind.value)]))


FUNCTIONS: Final[tuple[Scalar, ...]] = (
    Scalar(
        "AS_MAP",
        Category.COLLECTION,
        "A map out of an array of keys and an array of values.",
        (Form((Parameter("keys", ArrayOf(STRING)), Parameter("values", ArrayOf(_V))), MapOf(STRING, _V)),),
        as_map,
        examples=("AS_MAP(ARRAY['a', 'b'], ARRAY[1, 2]) => MAP('a' := 1, 'b' := 2)",),
    ),
    Scalar(
        "ENTRIES",
        Category.COLLECTION,
        "An array with a STRUCT of key K and value V for each entry of a map.",
        (
            Form(
                (
                    Parameter("map", MapOf(STRING, _V)),
                    Parameter("sorted", BOOLEAN, "whether by the order of the keys"),
                ),
                _entries_type,
            ),
        ),
        entries,
        examples=(
            "ENTRIES(MAP('b' := 2, 'a' := 1), TRUE) => ARRAY[STRUCT(K := 'a', V := 1), STRUCT(K := 'b', V := 2)]",
        ),
    ),
    Scalar(
        "MAP_KEYS",
        Category.COLLECTION,
        "The keys of a map.",
        (Form((_MAP,), ArrayOf(_K)),),
        map_keys,
        examples=("MAP_KEYS(MAP('apple' := 10, 'pear' := 20)) => ARRAY['apple', 'pear']",),
    ),
    Scalar(
        "MAP_VALUES",
        Category.COLLECTION,
        "The values of a map.",
        (Form((_MAP,), ArrayOf(_V)),),
        map_values,
        examples=("MAP_VALUES(MAP('apple' := 10, 'pear' := 20)) => ARRAY[10, 20]",),
    ),
    Scalar(
        "MAP_UNION",
        Category.COLLECTION,
        "The entries of two maps. The second one decides where both have a key; where one map is null, the other one.",
        (Form((Parameter("left", MapOf(_K, _V)), Parameter("right", MapOf(_K, _V))), MapOf(_K, _V)),),
        map_union,
        takes_null=True,
        examples=("MAP_UNION(MAP('a' := 1, 'b' := 2), MAP('a' := 5)) => MAP('a' := 5, 'b' := 2)",),
    ),
)
