"""Finds the form of a function that fits the arguments, and what it gives."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from moldau.pipeline.code.tree import Apply, Constant, Operation
from moldau.pipeline.code.tree import Function as Lambda
from moldau.pipeline.sql.expressions.casts import common_type, widens
from moldau.pipeline.sql.expressions.operators import to_type
from moldau.pipeline.sql.expressions.typed import Typed, type_name
from moldau.pipeline.sql.functions.declaration import (
    AnyDecimal,
    AnyNumber,
    AnyStruct,
    AnyType,
    ArrayOf,
    Form,
    LambdaOf,
    MapOf,
    Parameter,
    Pattern,
    Result,
    Scalar,
    TimeUnit,
    Variable,
)
from moldau.pipeline.sql.syntax.errors import Position, SqlError
from moldau.pipeline.sql.syntax.tree.expressions import Lambda as WrittenLambda
from moldau.pipeline.sql.types import Array, Map, SqlType, Struct, is_number
from moldau.pipeline.sql.types import Decimal as DecimalType

Bindings = dict[str, SqlType]


class Unit(NamedTuple):
    """A unit of time as an argument."""

    ms: int


Given = Typed | Unit | WrittenLambda
TypeBody = Callable[[WrittenLambda, Sequence[SqlType]], Typed]
"""Types the body of a lambda whose parameters have these types; its code is the lambda's."""


class Fit(NamedTuple):
    parameters: tuple[Parameter, ...]
    """One for each argument."""
    bindings: Bindings
    conversions: int
    """How many arguments must be widened: the form that needs fewest is taken."""


def call_scalar(function: Scalar, arguments: Sequence[Given], body: TypeBody, at: Position) -> Typed:
    form, fit = best_form(function.name, function.forms, arguments, at)
    codes: list[Typed] = []
    for parameter, given in zip(fit.parameters, arguments, strict=True):
        codes.append(_argument(parameter.type, given, fit.bindings, body, function.name, at))
    types = [code.type for code in codes]
    kind = result_type(form.result, types, fit.bindings, function.name, at)
    meaning = form.bind(types) if form.bind else form.meaning or function.meaning
    operation = Operation(function.name, function=meaning, takes_null=function.takes_null)
    return Typed(kind, Apply(operation, tuple(code.code for code in codes)))


def best_form(name: str, forms: Sequence[Any], arguments: Sequence[Given], at: Position) -> tuple[Any, Fit]:
    """The form that takes these arguments with the fewest conversions; SqlError says which there are."""
    fits = [(form, fit) for form in forms if (fit := _fit(form, arguments)) is not None]
    if not fits:
        given = ", ".join(map(_told, arguments))
        told = "; ".join(f"{name}({signature(form)})" for form in forms)
        raise SqlError(f"{name} does not take ({given})", at, hint=f"It takes: {told}.")
    return min(fits, key=lambda found: (found[1].conversions, found[0].is_variadic))


def signature(form: Form) -> str:
    texts = [f"{parameter.name} {parameter.type}" for parameter in form.parameters]
    if form.is_variadic:
        texts[-1 - form.after_variadic] += ", ..."
    return ", ".join(texts)


def _told(given: Given) -> str:
    match given:
        case Unit():
            return "TIME UNIT"
        case WrittenLambda():
            return "LAMBDA"
    return type_name(given.type)


def _fit(form: Any, arguments: Sequence[Given]) -> Fit | None:
    parameters = list(form.parameters)
    if form.is_variadic:
        index = len(parameters) - 1 - form.after_variadic
        times = max(0, len(arguments) - len(parameters) + 1)
        parameters[index : index + 1] = [parameters[index]] * times
    if len(parameters) != len(arguments):
        return None
    bindings: Bindings = {}
    conversions = 0
    for parameter, given in zip(parameters, arguments, strict=True):
        cost = _cost(parameter.type, given, bindings)
        if cost is None:
            return None
        conversions += cost
    return Fit(tuple(parameters), bindings, conversions)


def _cost(pattern: Pattern, given: Given, bindings: Bindings) -> int | None:
    match given:
        case Unit():
            return 0 if isinstance(pattern, TimeUnit) else None
        case WrittenLambda(parameters=names):
            is_one = isinstance(pattern, LambdaOf) and len(pattern.parameters) == len(names)
            return 0 if is_one else None
    if isinstance(pattern, LambdaOf | TimeUnit):
        return None
    return 0 if given.type is None else _unify(pattern, given.type, bindings)


def _unify(pattern: Pattern, kind: SqlType, bindings: Bindings) -> int | None:
    """What it costs to take a value of the type; None: it cannot be taken. Binds the variables of the pattern."""
    match pattern:
        case Variable(name):
            bound = bindings.get(name)
            common = kind if bound is None else common_type(bound, kind)
            if common is None:
                return None
            bindings[name] = common
            return 0 if common == kind else 1
        case AnyType():
            return 0
        case AnyNumber():
            return 0 if is_number(kind) else None
        case AnyDecimal():
            return 0 if isinstance(kind, DecimalType) else None
        case AnyStruct():
            return 0 if isinstance(kind, Struct) else None
        case ArrayOf(element):
            return _unify(element, kind.element, bindings) if isinstance(kind, Array) else None
        case MapOf(key, value):
            if not isinstance(kind, Map):
                return None
            costs = (_unify(key, kind.key, bindings), _unify(value, kind.value, bindings))
            return None if None in costs else sum(cost or 0 for cost in costs)
    if not isinstance(pattern, SqlType):
        return None
    if kind == pattern:
        return 0
    return 1 if widens(kind, pattern) else None


def _argument(
    pattern: Pattern, given: Given, bindings: Bindings, body: TypeBody, name: str, at: Position
) -> Typed:
    match given:
        case Unit(ms):
            return Typed(None, Constant(ms))
        case WrittenLambda():
            assert isinstance(pattern, LambdaOf)
            kinds = [_settled(one, bindings, name, at) for one in pattern.parameters]
            made = body(given, kinds)
            assert isinstance(made.code, Lambda)
            if made.type is not None and _unify(pattern.gives, made.type, bindings) is None:
                raise SqlError(
                    f"the lambda of {name} gives {made.type} and should give {pattern.gives}", given.at
                )
            return made
    kind = substituted(pattern, bindings)
    return given if kind is None or given.type is None else to_type(given, kind)


def _settled(pattern: Pattern, bindings: Bindings, name: str, at: Position) -> SqlType:
    kind = substituted(pattern, bindings)
    if kind is None:
        raise SqlError(f"the types of {name}'s arguments leave the type of its lambda open", at)
    return kind


def substituted(pattern: Pattern, bindings: Bindings) -> SqlType | None:
    """The type a pattern stands for; None where it stays open, or any of its kind will do."""
    match pattern:
        case Variable(name):
            return bindings.get(name)
        case ArrayOf(element):
            inner = substituted(element, bindings)
            return None if inner is None else Array(inner)
        case MapOf(key, value):
            key_type, value_type = substituted(key, bindings), substituted(value, bindings)
            return None if key_type is None or value_type is None else Map(key_type, value_type)
    return pattern if isinstance(pattern, SqlType) else None


def result_type(
    result: Result, types: Sequence[SqlType | None], bindings: Bindings, name: str, at: Position
) -> SqlType:
    if callable(result):
        try:
            return result([kind for kind in types if kind is not None])
        except ValueError as wrong:
            raise SqlError(f"{name}: {wrong}", at) from None
    kind = substituted(result, bindings)
    if kind is None:
        raise SqlError(
            f"the arguments of {name} leave the type of its result open", at, hint="CAST a NULL to a type."
        )
    return kind
