"""The functions a topology of a query is made of. They travel to the workers as values and are compiled there."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from moldau.pipeline.code.source import FAILURES, compile_row, compile_value
from moldau.pipeline.code.tree import Code
from moldau.pipeline.plan.expressions import Evaluator, Expression
from moldau.pipeline.sql.analysis.scope import PARAMETERS
from moldau.pipeline.sql.functions.declaration import Folding

log = logging.getLogger("moldau.sql.processing")

OnFailure = Callable[[str, Exception, Any], None]
"""The text of the expression, what it raised, and the row."""


def log_failure(text: str, failure: Exception, row: Any) -> None:
    log.warning("%s failed: %s", text, failure)


@dataclass(frozen=True, eq=False)
class Row(Expression):
    """A tuple of values of a record. An expression that fails is null, and that is told."""

    codes: tuple[Code, ...]
    texts: tuple[str, ...]
    on_failure: OnFailure = log_failure
    keeps_null: bool = False
    """A record without a value stays so: a tombstone of a table."""

    def evaluator(self) -> Evaluator:
        texts, tell = self.texts, self.on_failure

        def failed(index: int, failure: Exception) -> None:
            tell(texts[index], failure, None)

        compiled = compile_row(self.codes, PARAMETERS, failed)
        if not self.keeps_null:
            return compiled

        def unless_null(key: Any, value: Any, timestamp_ms: int) -> Any:
            return None if value is None else compiled(key, value, timestamp_ms)

        return unless_null

    def __str__(self) -> str:
        return f"({', '.join(self.texts)})"


@dataclass(frozen=True, eq=False)
class Condition(Expression):
    """Whether a record passes. One whose condition fails does not."""

    code: Code
    text: str
    on_failure: OnFailure = log_failure

    def evaluator(self) -> Evaluator:
        compiled, tell, text = compile_value(self.code, PARAMETERS), self.on_failure, self.text

        def holds(key: Any, value: Any, timestamp_ms: int) -> bool:
            try:
                return compiled(key, value, timestamp_ms) is True
            except FAILURES as failure:
                tell(text, failure, value)
                return False

        return holds

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class KeyOf(Row):
    """A new key: none where all of it is null, or with `any_null` where a part is."""

    any_null: bool = False

    def evaluator(self) -> Evaluator:
        compiled, is_missing = super().evaluator(), any if self.any_null else all

        def key_of(key: Any, value: Any, timestamp_ms: int) -> Any:
            found = compiled(key, value, timestamp_ms)
            return None if is_missing(part is None for part in found) else found

        return key_of


@dataclass(frozen=True, eq=False)
class Pair(Expression):
    """A new key and a new value, both of the old record."""

    key: Row
    value: Row

    def evaluator(self) -> Evaluator:
        key_of, value_of = self.key.evaluator(), self.value.evaluator()

        def pair(key: Any, value: Any, timestamp_ms: int) -> Any:
            return key_of(key, value, timestamp_ms), value_of(key, value, timestamp_ms)

        return pair

    def __str__(self) -> str:
        return f"{self.key} -> {self.value}"


@dataclass(frozen=True, eq=False)
class Explode(Expression):
    """The rows that table functions make of one: as many as the longest of them has values, each with the old row
    before it."""

    calls: Row

    def evaluator(self) -> Evaluator:
        compiled = self.calls.evaluator()

        def rows(key: Any, value: Any, timestamp_ms: int) -> Any:
            lists = [given or [] for given in compiled(key, value, timestamp_ms)]
            return [(*value, *made) for made in zip_longest(*lists)]

        return rows

    def __str__(self) -> str:
        return f"rows of {self.calls}"


class _Compiled:
    """A function of a key and a value; compiled where it runs, and not sent along."""

    _function: Evaluator | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_function"}


class GroupOf(_Compiled):
    """The group of a table's row, and what is aggregated of it."""

    def __init__(self, key: KeyOf, row: Row) -> None:
        self._pair = Pair(key, row)

    def __call__(self, key: Any, value: Any) -> Any:
        if self._function is None:
            self._function = self._pair.evaluator()
        return self._function(key, value, 0)


class ForeignKey(_Compiled):
    """The key of the other table that a row holds."""

    def __init__(self, key: KeyOf) -> None:
        self._key = key

    def __call__(self, value: Any) -> Any:
        if self._function is None:
            self._function = self._key.evaluator()
        return self._function(None, value, 0)


@dataclass(frozen=True)
class Fold:
    """The states of a group's aggregates, one for each call. A row of arguments holds those of all calls."""

    foldings: tuple[Folding, ...]
    widths: tuple[int, ...]

    def initial(self) -> tuple[Any, ...]:
        return tuple(folding.initial() for folding in self.foldings)

    def add(self, key: Any, arguments: Sequence[Any], states: Sequence[Any]) -> tuple[Any, ...]:
        return self._each([folding.add for folding in self.foldings], arguments, states)

    def remove(self, key: Any, arguments: Sequence[Any], states: Sequence[Any]) -> tuple[Any, ...]:
        return self._each([folding.remove for folding in self.foldings], arguments, states)

    def merge(self, key: Any, one: Sequence[Any], other: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(
            folding.merge(left, right) for folding, left, right in zip(self.foldings, one, other, strict=True)
        )

    def _each(self, steps: Sequence[Any], arguments: Sequence[Any], states: Sequence[Any]) -> tuple[Any, ...]:
        found, start = [], 0
        for step, width, state in zip(steps, self.widths, states, strict=True):
            found.append(step(state, *arguments[start : start + width]))
            start += width
        return tuple(found)


@dataclass(frozen=True)
class Joiner:
    """One flat tuple of two; the missing side is all nulls."""

    left_width: int
    right_width: int

    def __call__(self, left: tuple[Any, ...] | None, right: tuple[Any, ...] | None) -> tuple[Any, ...]:
        return (left or (None,) * self.left_width) + (right or (None,) * self.right_width)


@dataclass(frozen=True)
class Swapped:
    """The same for a join written the other way round."""

    joiner: Joiner

    def __call__(self, right: tuple[Any, ...] | None, left: tuple[Any, ...] | None) -> tuple[Any, ...]:
        return self.joiner(left, right)
