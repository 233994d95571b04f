"""Walks over tokens: looks ahead, takes what must come, and says what was expected where something else stands."""

import re
from typing import Final

from moldau.pipeline.sql.syntax.errors import Position, SqlError, did_you_mean, short
from moldau.pipeline.sql.syntax.tokens import Kind, Token, tokenize
from moldau.pipeline.sql.types import BIGINT_MAX

RESERVED: Final = frozenset(
    re.findall(
        r"\w+",
        """
        SELECT FROM WHERE GROUP BY HAVING AS AND OR NOT IN IS NULL LIKE BETWEEN CASE WHEN THEN ELSE END
        CAST CREATE DROP INSERT INTO JOIN INNER LEFT RIGHT FULL OUTER CROSS NATURAL ON WITHIN WITH EMIT
        LIMIT TRUE FALSE DISTINCT DESCRIBE EXISTS DELETE FOR TABLE STREAM USING UNION EXCEPT INTERSECT
        ORDER PREPARE EXECUTE ESCAPE CONSTRAINT
        """,
    )
)
"""Words that are names only in back-ticks."""

_TAKEN_BY_WORD: Final = (Kind.WORD, Kind.SYMBOL)

DEPTH_MAX: Final = 100
"""How deep expressions, types and calls may nest."""
PARTS_MAX: Final = 20_000
"""How many operands, items, arguments and types a statement may have."""


class TokenReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = tokenize(text)
        self._next = 0
        self._depth = 0
        self._parts = 0

    @property
    def head(self) -> Token:
        return self._tokens[self._next]

    @property
    def at(self) -> Position:
        return self.head.at

    def ahead(self, count: int = 1) -> Token:
        return self._tokens[min(self._next + count, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self._tokens[self._next]
        if token.kind is not Kind.END:
            self._next += 1
        return token

    def goes_on_with(self, *words: str) -> bool:
        """Whether these keywords or symbols come next, in this order."""
        tokens, place = self._tokens, self._next
        last = len(tokens) - 1
        for word in words:
            token = tokens[min(place, last)]
            if token.text != word or token.kind not in _TAKEN_BY_WORD:
                return False
            place += 1
        return True

    def accept(self, *words: str) -> bool:
        """Takes them if they come next."""
        if not self.goes_on_with(*words):
            return False
        self._next += len(words)
        return True

    def accept_one_of(self, *words: str) -> str | None:
        for word in words:
            if self.accept(word):
                return word
        return None

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.accept(word):
                raise self.unexpected(f"'{word}'", (word,))

    def expect_one_of(self, *words: str) -> str:
        found = self.accept_one_of(*words)
        if found is None:
            raise self.unexpected("one of " + ", ".join(words), words)
        return found

    def name(self, what: str = "a name") -> str:
        """An identifier: upper-cased unless it is quoted."""
        token = self.head
        if token.kind is Kind.WORD and token.text in RESERVED:
            hint = f"To use it as a name, quote it with back-ticks: `{token.text}`."
            raise self.error(f"expected {what}, found the keyword {token.text}", hint=hint)
        if token.kind is Kind.WORD and token.text[0].isdigit():
            hint = f"Quote it with back-ticks: `{token.text}`."
            raise self.error(f"a name cannot begin with a digit: {token.text}", hint=hint)
        if token.kind not in (Kind.WORD, Kind.QUOTED):
            raise self.unexpected(what)
        if not token.text:
            raise self.error("a name cannot be empty")
        return self.take().text

    def has_name(self) -> bool:
        token = self.head
        return token.kind is Kind.QUOTED or (token.kind is Kind.WORD and token.text not in RESERVED)

    def string(self, what: str = "a string") -> str:
        if self.head.kind is not Kind.STRING:
            raise self.unexpected(what)
        return self.take().text

    def integer(self, what: str = "a whole number", *, of: str = "") -> int:
        """At most the largest BIGINT. `of` is what it belongs to, where that says more."""
        if self.head.kind is not Kind.INTEGER:
            raise self.unexpected(what)
        value = self.limited_integer(BIGINT_MAX)
        if value is None:
            hint = f"The largest number is {BIGINT_MAX}."
            raise self.error(f"{short(self.head.text)} is too large for {of or what}", hint=hint)
        self.take()
        return value

    def limited_integer(self, value_max: int) -> int | None:
        """The integer that stands here, not taken; None if it is larger. Python converts no number of very many
        digits."""
        digits = self.head.text.lstrip("0") or "0"
        if len(digits) > len(str(value_max)):
            return None
        value = int(digits)
        return value if value <= value_max else None

    def begin_statement(self) -> None:
        self._parts = 0

    def deeper(self) -> None:
        """A part begins: an expression, or a type."""
        self._depth += 1
        self._parts += 1
        if self._parts > PARTS_MAX:
            raise self.error(
                f"more than {PARTS_MAX:,} operands, items and types in one statement",
                hint="Split the statement, or keep the values in a table and join it.",
            )
        if self._depth > DEPTH_MAX:
            raise self.error(f"nested more than {DEPTH_MAX} levels deep")

    def back(self) -> None:
        self._depth -= 1

    def error(self, message: str, at: Position | None = None, *, hint: str = "") -> SqlError:
        return SqlError(message, self.at if at is None else at, hint=hint).within(self.text)

    def unexpected(self, what: str, words: tuple[str, ...] = ()) -> SqlError:
        head = self.head
        if head.kind is Kind.VARIABLE:
            hint = f"Define it: DEFINE {head.text} = 'value';"
            return self.error(f"variable {head.text!r} is not defined", hint=hint)
        near = [token.text for token in (head, self.ahead(-1)) if token.kind is Kind.WORD]
        hint = next((hint for hint in (did_you_mean(word, words) for word in near) if hint), "")
        return self.error(f"expected {what}, found {head}", hint=hint)
