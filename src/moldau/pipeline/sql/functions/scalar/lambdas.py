"""TRANSFORM, FILTER and REDUCE: a lambda for each element of an array or entry of a map."""

from collections.abc import Callable
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import (
    ArrayOf,
    Category,
    Form,
    LambdaOf,
    MapOf,
    Parameter,
    Scalar,
    Variable,
)
from moldau.pipeline.sql.types import BOOLEAN

Lambda = Callable[..., Any]


def transform_array(values: list[Any], function: Lambda) -> list[Any]:
    return [function(value) for value in values]


def transform_map(of: dict[Any, Any], key_function: Lambda, value_function: Lambda) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in of.items():
        new_key = key_function(key, value)
        if new_key in found:
            raise ValueError(f"two entries of the map get the key {new_key!r}; keys must differ")
        found[new_key] = value_function(key, value)
    return found


def filter_array(values: list[Any], function: Lambda) -> list[Any]:
    return [value for value in values if function(value) is True]


def filter_map(of: dict[Any, Any], function: Lambda) -> dict[Any, Any]:
    return {key: value for key, value in of.items() if function(key, value) is True}


def reduce_array(values: list[Any] | None, state: Any, function: Lambda) -> Any:
    if state is not None:
        for value in values or ():
            state = function(state, value)
    return state


def reduce_map(of: dict[Any, Any] | None, state: Any, function: Lambda) -> Any:
    if state is not None:
        for key, value in (of or {}).items():
            state = function(state, key, value)
    return state


_T: Final = Variable("T")
_K: Final = Variable("K")
_V: Final = Variable("V")
_R: Final = Variable("R")
_S: Final = Variable("S")
_ARRAY: Final = Parameter("array", ArrayOf(_T))
_MAP: Final = Parameter("map", MapOf(_K, _V))
_STATE: Final = Parameter("state", _S, "the state before the first element")

FUNCTIONS: Final[tuple[Scalar, ...]] = (
    Scalar(
        "TRANSFORM",
        Category.LAMBDA,
        "What a lambda makes of each element of an array, or two lambdas of keys and values of a map.",
        (
            Form((_ARRAY, Parameter("function", LambdaOf((_T,), _R))), ArrayOf(_R), meaning=transform_array),
            Form(
                (
                    _MAP,
                    Parameter("key_function", LambdaOf((_K, _V), _R), "makes the new key"),
                    Parameter("value_function", LambdaOf((_K, _V), _T), "makes the new value"),
                ),
                MapOf(_R, _T),
                meaning=transform_map,
            ),
        ),
        examples=(
            "TRANSFORM(ARRAY[1, 2, 3], x => x * x) => ARRAY[1, 4, 9]",
            "TRANSFORM(MAP('a' := 1, 'b' := 2), (k, v) => UCASE(k), (k, v) => v + 1) => MAP('A' := 2, 'B' := 3)",
        ),
    ),
    Scalar(
        "FILTER",
        Category.LAMBDA,
        "The elements of an array, or the entries of a map, for which a lambda is true.",
        (
            Form(
                (_ARRAY, Parameter("function", LambdaOf((_T,), BOOLEAN))), ArrayOf(_T), meaning=filter_array
            ),
            Form(
                (_MAP, Parameter("function", LambdaOf((_K, _V), BOOLEAN))), MapOf(_K, _V), meaning=filter_map
            ),
        ),
        examples=(
            "FILTER(ARRAY[5, 1, 7], x => x > 4) => ARRAY[5, 7]",
            "FILTER(MAP('a' := 1, 'b' := 2), (k, v) => k = 'b') => MAP('b' := 2)",
        ),
    ),
    Scalar(
        "REDUCE",
        Category.LAMBDA,
        "One value out of all elements: a lambda makes a new state out of the state and each element. "
        "NULL where the state is null.",
        (
            Form((_ARRAY, _STATE, Parameter("function", LambdaOf((_S, _T), _S))), _S, meaning=reduce_array),
            Form((_MAP, _STATE, Parameter("function", LambdaOf((_S, _K, _V), _S))), _S, meaning=reduce_map),
        ),
        takes_null=True,
        examples=(
            "REDUCE(ARRAY[1, 2, 3], 10, (s, x) => s + x) => 16",
            "REDUCE(MAP('a' := 1, 'b' := 2), '', (s, k, v) => CONCAT(s, k)) => 'ab'",
        ),
    ),
)
