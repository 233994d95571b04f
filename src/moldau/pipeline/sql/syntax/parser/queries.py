"""SELECT and what belongs to it: sources, joins, windows, durations."""

from typing import Any, Final, cast

from moldau.pipeline.sql.syntax.errors import Position, did_you_mean
from moldau.pipeline.sql.syntax.parser.expressions import UNITS, ExpressionParser
from moldau.pipeline.sql.syntax.tokens import Kind
from moldau.pipeline.sql.syntax.tree.expressions import Expression
from moldau.pipeline.sql.syntax.tree.relations import (
    DURATION_DAYS_MAX,
    UNIT_MS,
    AllColumns,
    AllFields,
    Duration,
    Emit,
    Join,
    JoinKind,
    OneColumn,
    Query,
    SelectItem,
    Source,
    Window,
    Within,
)

CLAUSES: Final = ("WINDOW", "WHERE", "GROUP", "PARTITION", "HAVING", "EMIT", "LIMIT")
"""Words that begin a clause, so that they are no alias of the source before them."""

JOINS_MAX: Final = 100

_JOINS: Final = {
    ("JOIN",): JoinKind.INNER,
    ("INNER", "JOIN"): JoinKind.INNER,
    ("LEFT", "JOIN"): JoinKind.LEFT,
    ("LEFT", "OUTER", "JOIN"): JoinKind.LEFT,
    ("RIGHT", "JOIN"): JoinKind.RIGHT,
    ("RIGHT", "OUTER", "JOIN"): JoinKind.RIGHT,
    ("FULL", "JOIN"): JoinKind.FULL,
    ("FULL", "OUTER", "JOIN"): JoinKind.FULL,
    ("OUTER", "JOIN"): JoinKind.FULL,
}


class QueryParser(ExpressionParser):
    def clauses_after_source(self) -> tuple[str, ...]:
        """For a hint: a clause with a slip of the pen was read as the alias of a source."""
        return (*CLAUSES, "JOIN", "LEFT", "INNER")

    def query(self) -> Query:
        at = self.at
        self.expect("SELECT")
        if self.goes_on_with("DISTINCT"):
            raise self.error(
                "SELECT DISTINCT is not supported", hint="GROUP BY gives each value once, as a table."
            )
        items = [self._item()]
        while self.accept(","):
            items.append(self._item())
        self.expect("FROM")
        source = self._source()
        joins: list[Join] = []
        while (join := self._join()) is not None:
            joins.append(join)
            if len(joins) > JOINS_MAX:
                hint = "Give the join of some its own name, CREATE STREAM ... AS SELECT, and join that."
                raise self.error(f"more than {JOINS_MAX} joins in one query", join.at, hint=hint)
        if self.goes_on_with(","):
            raise self.error("one FROM names one source", hint="Write JOIN ... ON ... for each further one.")
        window = self._window() if self.accept("WINDOW") else None
        where = self.expression() if self.accept("WHERE") else None
        group_by = self._keys() if self.accept("GROUP", "BY") else ()
        partition_by = self._keys() if self.accept("PARTITION", "BY") else ()
        having = self.expression() if self.accept("HAVING") else None
        emit = Emit[self.expect_one_of("CHANGES", "FINAL")] if self.accept("EMIT") else None
        limit = self.integer("the number of rows") if self.accept("LIMIT") else None
        self._refuse_order()
        return Query(
            tuple(items),
            source,
            tuple(joins),
            window,
            where,
            group_by,
            partition_by,
            having,
            emit,
            limit,
            at=at,
        )

    def _refuse_order(self) -> None:
        head = self.head
        if head.kind is Kind.WORD and head.text in CLAUSES:
            order = "WINDOW, WHERE, GROUP BY, PARTITION BY, HAVING, EMIT, LIMIT"
            raise self.error(f"{head.text} stands too late", hint=f"The order of clauses is {order}.")
        if self.goes_on_with("ORDER", "BY"):
            raise self.error(
                "a stream has no end, so ORDER BY is not supported", hint="TOPK keeps the largest values."
            )
        if self.goes_on_with("UNION"):
            raise self.error("UNION is not supported", hint="INSERT INTO one stream from several queries.")

    def _item(self) -> SelectItem:
        at = self.at
        if self.accept("*"):
            return AllColumns(at=at)
        if self.has_name() and self.ahead().text == "." and self.ahead(2).text == "*":
            source = self.name()
            self.expect(".", "*")
            return AllColumns(source, at=at)
        expression = self.expression()
        if self.goes_on_with("->", "*"):
            self.expect("->", "*")
            return AllFields(expression, at=at)
        return OneColumn(expression, self._alias(), at=at)

    def _alias(self) -> str | None:
        if self.accept("AS"):
            return self.name("an alias")
        if self.has_name() and self.head.text not in CLAUSES:
            return self.name("an alias")
        return None

    def _source(self) -> Source:
        at = self.at
        if self.goes_on_with("("):
            raise self.error(
                "a query inside a query is not supported",
                hint="Give the inner one a name: CREATE STREAM inner AS SELECT ...; then read from it.",
            )
        return Source(self.name("the name of a stream or table"), self._source_alias(), at=at)

    def _source_alias(self) -> str | None:
        if self.accept("AS"):
            return self.name("an alias")
        starts_clause = self.head.kind is Kind.WORD and self.head.text in CLAUSES
        if self.goes_on_with("PARTITION") or self.goes_on_with("WINDOW"):
            starts_clause = self.ahead().kind is not Kind.END and self.ahead().text != ";"
        return self.name("an alias") if self.has_name() and not starts_clause else None

    def _join(self) -> Join | None:
        at = self.at
        for words, kind in _JOINS.items():
            if self.accept(*words):
                right = self._source()
                within = self._within() if self.accept("WITHIN") else None
                if not self.goes_on_with("ON"):
                    raise self.unexpected("'ON' and the join's condition", ("ON", "WITHIN"))
                self.expect("ON")
                return Join(kind, right, self.expression(), within, at=at)
        if self.goes_on_with("CROSS", "JOIN"):
            raise self.error(
                "CROSS JOIN is not supported", hint="A join needs a condition: JOIN ... ON a.x = b.y."
            )
        return None

    def _within(self) -> Within:
        at = self.at
        if self.accept("("):
            before = self.duration("the first duration of WITHIN")
            self.expect(",")
            after = self.duration("the second duration of WITHIN")
            self.expect(")")
        else:
            before = after = self.duration("the duration of WITHIN")
        grace = self.duration("the GRACE PERIOD of WITHIN") if self.accept("GRACE", "PERIOD") else None
        return Within(before, after, grace, at=at)

    def _window(self) -> Window:
        if self.head.text not in ("TUMBLING", "HOPPING", "SESSION") and self.ahead().kind is Kind.WORD:
            self.name("the kind of window")  # a window may have a name, which nothing uses
        at = self.at
        kind = self.expect_one_of("TUMBLING", "HOPPING", "SESSION")
        self.expect("(")
        advance = None
        if kind == "SESSION":
            size = self.duration("the gap of the SESSION window")
        else:
            self.expect("SIZE")
            size = self.duration(f"the SIZE of the {kind} window")
        if kind == "HOPPING":
            self.expect(",", "ADVANCE", "BY")
            advance = self.duration("the ADVANCE of the HOPPING window")
        retention = grace = None
        while self.accept(","):
            if self.accept("RETENTION"):
                retention = self.duration(f"the RETENTION of the {kind} window")
            elif self.accept("GRACE", "PERIOD"):
                grace = self.duration(f"the GRACE PERIOD of the {kind} window")
            else:
                raise self.unexpected("RETENTION or GRACE PERIOD", ("RETENTION", "GRACE"))
        self.expect(")")
        return Window(cast(Any, kind), size, advance, retention, grace, at=at)

    def _keys(self) -> tuple[Expression, ...]:
        """What follows GROUP BY and PARTITION BY, in parentheses or not."""
        if self.goes_on_with("(") and self._parentheses_hold_all():
            self.expect("(")
            return self.expressions(")")
        found = [self.expression()]
        while self.accept(","):
            found.append(self.expression())
        return tuple(found)

    def _parentheses_hold_all(self) -> bool:
        """Whether the clause ends with the parenthesis that opens here: `(a, b)` yes, `(a) + b` no."""
        depth, place = 0, 0
        while self.ahead(place).kind is not Kind.END:
            text = self.ahead(place).text if self.ahead(place).kind is Kind.SYMBOL else ""
            depth += (text == "(") - (text == ")")
            if depth == 0:
                following = self.ahead(place + 1)
                return following.kind is Kind.END or following.text in (";", *CLAUSES)
            place += 1
        return False

    def duration(self, what: str = "the duration") -> Duration:
        at = self.at
        count = self.integer("a number of units of time", of=what)
        unit_at, word = self.at, self.head.text
        unit = UNITS.get(word)
        if unit is None:
            raise self.error(f"expected a unit of time, found {self.head}", hint=did_you_mean(word, UNITS))
        if unit not in UNIT_MS:
            raise self._no_fixed_length(unit, unit_at)
        self.take()
        found = Duration(count, unit, at=at)
        if found.ms > DURATION_DAYS_MAX * UNIT_MS["DAYS"]:
            message = f"{what} is {count} {unit}; it can be {DURATION_DAYS_MAX:,} DAYS at most"
            raise self.error(message, at, hint="Give a shorter one.")
        return found

    def _no_fixed_length(self, unit: str, at: Position) -> Exception:
        return self.error(f"{unit} have no fixed length", at, hint="Use DAYS.")
