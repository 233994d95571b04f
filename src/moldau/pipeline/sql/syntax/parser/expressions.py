"""Expressions, by the strength of their operators."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, cast

from moldau.pipeline.sql.syntax.errors import Position, short
from moldau.pipeline.sql.syntax.parser.token_reader import DEPTH_MAX
from moldau.pipeline.sql.syntax.parser.types import TypeParser
from moldau.pipeline.sql.syntax.tokens import Kind
from moldau.pipeline.sql.syntax.tree.expressions import (
    Arithmetic,
    ArrayOf,
    AtTimeZone,
    Between,
    Call,
    Case,
    Cast,
    ColumnName,
    Comparison,
    Constant,
    ElementOf,
    Expression,
    FieldOf,
    InList,
    IsNull,
    Lambda,
    Like,
    Logical,
    MapOf,
    Negative,
    Not,
    StructOf,
    Unit,
    When,
)
from moldau.pipeline.sql.types import BIGINT_MAX, DECIMAL_PRECISION_MAX

UNITS: Final = {
    f"{unit}{ending}": f"{unit}S"
    for unit in ("MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR")
    for ending in ("", "S")
}
"""Units of time by both their names."""

_COMPARISONS: Final = {"=": "=", "!=": "!=", "<>": "!=", "<=": "<=", ">=": ">=", "<": "<", ">": ">"}
_OR, _AND, _NOT, _PREDICATE, _CONCAT, _SUM, _PRODUCT, _SIGN, _ZONE = range(9)
_STRENGTHS: Final = {
    "OR": _OR,
    "AND": _AND,
    **dict.fromkeys((*_COMPARISONS, "IS", "NOT", "IN", "BETWEEN", "LIKE"), _PREDICATE),
    "||": _CONCAT,
    **dict.fromkeys("+-", _SUM),
    **dict.fromkeys("*/%", _PRODUCT),
    "AT": _ZONE,
}
"""How strongly an operator between two operands binds; NOT is that of NOT IN, NOT LIKE, NOT BETWEEN."""


class ExpressionParser(TypeParser):
    def expression(self, strength: int = 0) -> Expression:
        """Its operators bind at least as strongly as `strength`. One function for all of them: nested text costs few
        frames a level."""
        self.deeper()
        at = self.at
        left = self._prefixed()
        count = 0
        while (operator := self._operator(strength)) is not None:
            count += 1
            if count > DEPTH_MAX:
                raise self.error(
                    f"more than {DEPTH_MAX} operators in a row", hint="Use CONCAT, or parentheses."
                )
            left = self._joined(left, operator, at)
        self.back()
        return left

    def expressions(self, end: str) -> tuple[Expression, ...]:
        """Some, or none, separated by commas; takes the symbol that ends them."""
        if self.accept(end):
            return ()
        found = [self.expression()]
        while self.accept(","):
            found.append(self.expression())
        self.expect(end)
        return tuple(found)

    def _prefixed(self) -> Expression:
        at = self.at
        if self.accept("NOT"):
            return Not(self.expression(_NOT), at=at)
        if self.accept("+"):
            return self.expression(_SIGN)
        if not self.accept("-"):
            return self._reached()
        found = self.expression(_SIGN)
        if isinstance(found, Constant) and found.kind in ("INTEGER", "DECIMAL", "DOUBLE"):
            return Constant(found.kind, -found.value, at=at)
        return Negative(found, at=at)

    def _operator(self, strength: int) -> str | None:
        """The operator that stands here, if it binds strongly enough. Not taken yet."""
        head = self.head
        if head.kind is not Kind.WORD and head.kind is not Kind.SYMBOL:
            return None
        word = head.text
        if word == "NOT" and self.ahead().text not in ("IN", "BETWEEN", "LIKE"):
            return None
        if word == "AT" and not self.goes_on_with("AT", "TIME", "ZONE"):
            return None
        return word if _STRENGTHS.get(word, -1) >= strength else None

    def _joined(self, left: Expression, operator: str, at: Position) -> Expression:
        strength = _STRENGTHS[operator]
        if operator in ("AND", "OR"):
            operands = [left]
            while self.accept(operator):
                operands.append(self.expression(strength + 1))
            return Logical(cast(Any, operator), tuple(operands), at=at)
        if strength == _PREDICATE:
            return self._predicate(left, at)
        self.take()
        if operator == "AT":
            self.expect("TIME", "ZONE")
            return AtTimeZone(left, self.expression(strength + 1), at=at)
        return Arithmetic(cast(Any, operator), left, self.expression(strength + 1), at=at)

    def _predicate(self, left: Expression, at: Position) -> Expression:
        if (symbol := self.accept_one_of(*_COMPARISONS)) is not None:
            return Comparison(cast(Any, _COMPARISONS[symbol]), left, self._compared(), at=at)
        if self.accept("IS"):
            return self._is(left, at)
        is_negated = self.accept("NOT")
        if self.accept("IN"):
            self.expect("(")
            if self.goes_on_with(")"):
                raise self.error("IN needs at least one value")
            return InList(left, self.expressions(")"), is_negated, at=at)
        if self.accept("BETWEEN"):
            low = self._compared()
            self.expect("AND")
            return Between(left, low, self._compared(), is_negated, at=at)
        self.expect("LIKE")
        return self._like(left, is_negated, at)

    def _compared(self) -> Expression:
        return self.expression(_PREDICATE + 1)

    def _is(self, left: Expression, at: Position) -> Expression:
        is_negated = self.accept("NOT")
        if self.accept("NULL"):
            return IsNull(left, is_negated, at=at)
        self.expect("DISTINCT", "FROM")
        operator = "IS NOT DISTINCT FROM" if is_negated else "IS DISTINCT FROM"
        return Comparison(cast(Any, operator), left, self._compared(), at=at)

    def _like(self, left: Expression, is_negated: bool, at: Position) -> Expression:
        pattern, escape = self._compared(), None
        if self.accept("ESCAPE"):
            escape_at, escape = self.at, self.string("the escape character")
            if len(escape) != 1:
                raise self.error(f"the escape character is one character, not {escape!r}", escape_at)
        return Like(left, pattern, escape, is_negated, at=at)

    def _reached(self) -> Expression:
        """A primary expression and what is reached from it: `->field`, `[index]`."""
        at, found, count = self.at, self._primary(), 0
        while True:
            if self.goes_on_with("->") and self.ahead().text != "*":
                self.take()
                found = FieldOf(found, self.name("the name of a field"), at=at)
            elif self.accept("["):
                found = ElementOf(found, self.expression(), at=at)
                self.expect("]")
            else:
                return found
            count += 1
            if count > DEPTH_MAX:
                raise self.error(f"more than {DEPTH_MAX} steps into a value")

    def _primary(self) -> Expression:
        head, at = self.head, self.at
        if self.accept("("):
            return self._parenthesized(at)
        if (constant := self._constant_here()) is not None:
            return constant
        if self.accept("CASE"):
            return self._case(at)
        if self.accept("CAST"):
            return self._cast(at)
        if (
            head.kind is Kind.WORD
            and self.ahead().text in ("[", "(")
            and (made := self._made(at)) is not None
        ):
            return made
        if head.kind is Kind.WORD and self.ahead().text == "(":
            return self._call(at)
        return self._column(at)

    def _constant_here(self) -> Constant | None:
        at = self.at
        match self.head.kind:
            case Kind.STRING:
                return Constant("STRING", self.take().text, at=at)
            case Kind.INTEGER:
                return self._integer()
            case Kind.DECIMAL:
                return self._decimal_number()
            case Kind.FLOAT:
                return Constant("DOUBLE", float(self.take().text), at=at)
        if self.accept("NULL"):
            return Constant("NULL", None, at=at)
        word = self.accept_one_of("TRUE", "FALSE")
        return None if word is None else Constant("BOOLEAN", word == "TRUE", at=at)

    def _integer(self) -> Constant:
        at, value = self.at, self.limited_integer(BIGINT_MAX + 1)
        if value is None:
            written = self.head.text.lstrip("0")
            hint = f"Write it as a DECIMAL: {written}.0"
            if len(written) >= DECIMAL_PRECISION_MAX:
                hint = "Write it as a DOUBLE, which is less exact: 1E40."
            raise self.error(f"{short(self.head.text)} is too large for a BIGINT", at, hint=hint)
        self.take()
        return Constant("INTEGER", value, at=at)

    def _decimal_number(self) -> Constant:
        at, text = self.at, self.head.text
        before, _, after = text.partition(".")
        if len(before.lstrip("0")) + len(after) > DECIMAL_PRECISION_MAX:
            raise self.error(
                f"{short(text)} has more than the {DECIMAL_PRECISION_MAX} digits of a DECIMAL",
                at,
                hint="Write fewer digits, or a DOUBLE, which is less exact: 1.5E0.",
            )
        self.take()
        return Constant("DECIMAL", Decimal(text), at=at)

    def _parenthesized(self, at: Position) -> Expression:
        found = self.expression()
        if self.goes_on_with(","):
            raise self.error("a list of values stands here where one is expected", at)
        self.expect(")")
        return found

    def _case(self, at: Position) -> Case:
        operand = None if self.goes_on_with("WHEN") else self.expression()
        whens = []
        while True:
            when_at = self.at
            self.expect("WHEN")
            condition = self.expression()
            self.expect("THEN")
            whens.append(When(condition, self.expression(), at=when_at))
            if not self.goes_on_with("WHEN"):
                break
        otherwise = self.expression() if self.accept("ELSE") else None
        self.expect("END")
        return Case(operand, tuple(whens), otherwise, at=at)

    def _cast(self, at: Position) -> Cast:
        self.expect("(")
        of = self.expression()
        self.expect("AS")
        kind = self.type()
        self.expect(")")
        return Cast(of, kind, at=at)

    def _made(self, at: Position) -> Expression | None:
        """ARRAY[...], MAP(k := v), STRUCT(f := v); None for a call of a function that is named so."""
        if self.accept("ARRAY", "["):
            return ArrayOf(self.expressions("]"), at=at)
        if self.goes_on_with("MAP", "("):
            self.accept("MAP", "(")
            return MapOf(tuple(self._assigned(self.expression)), at=at)
        if self.goes_on_with("STRUCT", "("):
            self.accept("STRUCT", "(")
            return StructOf(tuple(self._assigned(lambda: self.name("the name of a field"))), at=at)
        return None

    def _assigned(self, left: Callable[[], Any]) -> list[tuple[Any, Expression]]:
        found: list[tuple[Any, Expression]] = []
        while not self.accept(")"):
            if found:
                self.expect(",")
            name = left()
            self.expect(":=")
            found.append((name, self.expression()))
        return found

    def _call(self, at: Position) -> Call:
        name = self.name("the name of a function")
        self.expect("(")
        if self.accept("*"):
            self.expect(")")
            return Call(name, (), is_star=True, at=at)
        if self.goes_on_with("DISTINCT"):
            hint = "COUNT_DISTINCT(column) counts each value once." if name == "COUNT" else ""
            raise self.error(f"{name}(DISTINCT ...) is not supported", hint=hint)
        arguments: list[Expression] = []
        while not self.accept(")"):
            if arguments:
                self.expect(",")
            arguments.append(self._argument())
        return Call(name, tuple(arguments), at=at)

    def _argument(self) -> Expression:
        at = self.at
        if self.head.kind is Kind.WORD and self.head.text in UNITS and self.ahead().text in (",", ")"):
            return Unit(UNITS[self.take().text], at=at)
        if self.has_name() and self.ahead().text == "=>":
            name = self.name()
            self.expect("=>")
            return Lambda((name,), self.expression(), at=at)
        if self.goes_on_with("(") and self._is_lambda():
            self.expect("(")
            names = [self.name("the name of a parameter")]
            while self.accept(","):
                names.append(self.name("the name of a parameter"))
            self.expect(")", "=>")
            return Lambda(tuple(names), self.expression(), at=at)
        return self.expression()

    def _is_lambda(self) -> bool:
        """Whether `(a, b) =>` stands here."""
        place = 1
        while self.ahead(place).kind in (Kind.WORD, Kind.QUOTED) and self.ahead(place + 1).text == ",":
            place += 2
        return self.ahead(place + 1).text == ")" and self.ahead(place + 2).text == "=>"

    def _column(self, at: Position) -> ColumnName:
        name = self.name("an expression")
        if self.goes_on_with(".") and self.ahead().text != "*":
            self.take()
            return ColumnName(self.name("the name of a column"), name, at=at)
        return ColumnName(name, at=at)
