"""The type and the code of an expression as it is written, in a scope that knows its names."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from moldau.pipeline.code.tree import Argument, Branch, Constant, Function, Logic
from moldau.pipeline.sql.expressions import operators
from moldau.pipeline.sql.expressions.calls import Given, Unit, call_scalar
from moldau.pipeline.sql.expressions.casts import cast, literal_like
from moldau.pipeline.sql.expressions.named_types import real_type
from moldau.pipeline.sql.expressions.typed import NULL, Typed, applied
from moldau.pipeline.sql.functions.declaration import Scalar
from moldau.pipeline.sql.syntax.errors import Position, SqlError
from moldau.pipeline.sql.syntax.tree import expressions as tree
from moldau.pipeline.sql.syntax.tree.relations import UNIT_MS
from moldau.pipeline.sql.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INTEGER,
    INTEGER_MAX,
    INTEGER_MIN,
    STRING,
    TIMESTAMP,
    SqlType,
)
from moldau.pipeline.sql.types import Decimal as DecimalType

MOMENTS = ("ROWTIME", "WINDOWSTART", "WINDOWEND")
"""BIGINT columns that may be compared with a time as text."""

CALENDAR_MS = {"MONTHS": 30 * UNIT_MS["DAYS"], "YEARS": 365 * UNIT_MS["DAYS"]}
"""As a DURATION of ksqlDB counts them."""


class Scope(Protocol):
    """What an expression may speak of."""

    def column(self, name: tree.ColumnName) -> Typed:
        """SqlError where there is none, or more than one."""

    def scalar(self, call: tree.Call) -> Scalar:
        """SqlError where there is no function of the name that may stand here."""

    def known(self, expression: tree.Expression) -> Typed | None:
        """A part that has been computed before, as an aggregate has when a HAVING is looked at."""

    def type_named(self, name: tree.NamedType) -> SqlType: ...


def typed(expression: tree.Expression, scope: Scope) -> Typed:
    """SqlError, with the position, where it has no meaning."""
    return _Typing(scope, {}).value(expression)


def predicate(expression: tree.Expression, scope: Scope, clause: str) -> Typed:
    found = typed(expression, scope)
    if found.type not in (BOOLEAN, None):
        raise SqlError(f"{clause} needs a condition, not a {found.type}", expression.at)
    return found


class _Typing:
    def __init__(self, scope: Scope, parameters: Mapping[str, Typed]) -> None:
        self._scope = scope
        self._parameters = parameters
        """Of the lambdas around, by name."""

    def value(self, expression: tree.Expression) -> Typed:
        known = self._scope.known(expression)
        if known is not None:
            return known
        at = expression.at
        match expression:
            case tree.Constant():
                return _constant(expression)
            case tree.ColumnName(name=name, source=None) if name in self._parameters:
                return self._parameters[name]
            case tree.ColumnName():
                return self._scope.column(expression)
            case tree.Comparison(operator=operator, left=left, right=right):
                return operators.compare(operator, self._beside(left, right), self._beside(right, left), at)
            case tree.Arithmetic(operator=operator, left=left, right=right):
                return operators.compute(operator, self.value(left), self.value(right), at)
            case tree.Call():
                return self._call(expression)
            case tree.Cast(of=of, type=kind):
                return cast(self.value(of), real_type(kind, self._scope), at)
            case tree.Negative(of=of):
                return operators.negative(self.value(of), at)
        return self._condition(expression) or self._part(expression) or self._made(expression)

    def _condition(self, expression: tree.Expression) -> Typed | None:
        at = expression.at
        match expression:
            case tree.Logical(operator=operator, operands=operands):
                return Typed(
                    BOOLEAN, Logic(operator == "OR", tuple(self._truth(one).code for one in operands))
                )
            case tree.Not(of=of):
                return applied(BOOLEAN, operators.NOT, self._truth(of))
            case tree.IsNull(of=of, is_negated=is_negated):
                operation = operators.IS_NOT_NULL if is_negated else operators.IS_NULL
                return applied(BOOLEAN, operation, self.value(of))
            case tree.Between(of=of, low=low, high=high, is_negated=is_negated):
                value = self.value(of)
                bounds = (
                    operators.compare(">=", value, self._beside(low, of), at).code,
                    operators.compare("<=", value, self._beside(high, of), at).code,
                )
                return _negated(Typed(BOOLEAN, Logic(False, bounds)), is_negated)
            case tree.InList(of=of, choices=choices, is_negated=is_negated):
                found = operators.in_list(self.value(of), [self.value(one) for one in choices], at)
                return _negated(found, is_negated)
            case tree.Case():
                return self._case(expression)
        return None

    def _part(self, expression: tree.Expression) -> Typed | None:
        at = expression.at
        match expression:
            case tree.FieldOf(struct=struct, name=name):
                return operators.field_of(self.value(struct), name, at)
            case tree.ElementOf(base=base, index=index):
                return operators.element_of(self.value(base), self.value(index), at)
            case tree.AtTimeZone(of=of, zone=zone):
                return operators.at_time_zone(self.value(of), self.value(zone), at)
            case tree.Like(of=of, pattern=pattern, escape=escape, is_negated=is_negated):
                found = operators.like(self.value(of), self.value(pattern), escape, at)
                return _negated(found, is_negated)
        return None

    def _made(self, expression: tree.Expression) -> Typed:
        at = expression.at
        match expression:
            case tree.ArrayOf(elements=elements):
                return operators.array_of([self.value(one) for one in elements], at)
            case tree.MapOf(entries=entries):
                return operators.map_of([(self.value(key), self.value(value)) for key, value in entries], at)
            case tree.StructOf(fields=fields):
                return operators.struct_of([(name, self.value(value)) for name, value in fields], at)
            case tree.Lambda():
                raise SqlError("a lambda stands only among the arguments of a function", at)
            case tree.Unit(name=name):
                return self._scope.column(tree.ColumnName(name, at=at))
        raise TypeError(f"{expression!r} is no expression")

    def _beside(self, expression: tree.Expression, other: tree.Expression) -> Typed:
        """One side of a comparison. Beside ROWTIME and its like, a text is a time."""
        found = self.value(expression)
        is_moment = isinstance(other, tree.ColumnName) and other.name in MOMENTS
        if not (is_moment and found.type == STRING and isinstance(found.code, Constant)):
            return found
        return Typed(BIGINT, literal_like(found, TIMESTAMP, expression.at).code)

    def _truth(self, expression: tree.Expression) -> Typed:
        found = self.value(expression)
        if found.type not in (BOOLEAN, None):
            raise SqlError(f"expected a condition, found a {found.type}", expression.at)
        return found

    def _case(self, case: tree.Case) -> Typed:
        operand = None if case.operand is None else self.value(case.operand)
        conditions = []
        for when in case.whens:
            if operand is None:
                conditions.append(self._truth(when.condition))
            else:
                conditions.append(operators.compare("=", operand, self.value(when.condition), when.at))
        results = [self.value(when.result) for when in case.whens]
        otherwise = NULL if case.otherwise is None else self.value(case.otherwise)
        kind, (*results, otherwise) = operators.unified(
            [*results, otherwise], case.at, "the results of the CASE"
        )
        cases = tuple((test.code, result.code) for test, result in zip(conditions, results, strict=True))
        return Typed(kind, Branch(cases, otherwise.code))

    def _call(self, call: tree.Call) -> Typed:
        function = self._scope.scalar(call)
        if call.is_star:
            raise SqlError(f"{call.name}(*) has no meaning", call.at)
        given = [self._given(argument) for argument in call.arguments]
        return call_scalar(function, given, self._lambda, call.at)

    def _given(self, argument: tree.Expression) -> Given:
        match argument:
            case tree.Lambda():
                return argument
            case tree.Unit(name=name):
                return Unit(UNIT_MS.get(name) or CALENDAR_MS[name])
        return self.value(argument)

    def _lambda(self, written: tree.Lambda, types: Sequence[SqlType]) -> Typed:
        names = [f"{name} {written.at.line}:{written.at.column}" for name in written.parameters]
        inside = {
            name: Typed(kind, Argument(own))
            for name, own, kind in zip(written.parameters, names, types, strict=True)
        }
        body = _Typing(self._scope, {**self._parameters, **inside}).value(written.body)
        return Typed(body.type, Function(tuple(names), body.code))


def _constant(constant: tree.Constant) -> Typed:
    value = constant.value
    match constant.kind:
        case "NULL":
            return NULL
        case "BOOLEAN":
            return Typed(BOOLEAN, Constant(value))
        case "STRING":
            return Typed(STRING, Constant(value))
        case "DOUBLE":
            return Typed(DOUBLE, Constant(value))
        case "DECIMAL":
            digits, exponent = value.as_tuple().digits, -value.as_tuple().exponent
            return Typed(DecimalType(max(len(digits), exponent, 1), max(exponent, 0)), Constant(value))
    kind = INTEGER if INTEGER_MIN <= value <= INTEGER_MAX else BIGINT
    _check_bigint(value, constant.at)
    return Typed(kind, Constant(value))


def _check_bigint(value: int, at: Position) -> None:
    if not -(2**63) <= value < 2**63:
        raise SqlError(f"{value} is too large for a BIGINT", at, hint=f"Write it as a DECIMAL: {value}.0")


def _negated(found: Typed, is_negated: bool) -> Typed:
    return applied(BOOLEAN, operators.NOT, found) if is_negated else found
