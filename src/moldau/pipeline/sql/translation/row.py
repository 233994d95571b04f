"""The functions a topology of a query is made of. They travel to the workers as values and are compiled there."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    """A new key: none where a part of it is null."""

    def evaluator(self) -> Evaluator:
        compiled = super().evaluator()
        if len(self.codes) > 1:
            return compiled

        def key_of(key: Any, value: Any, timestamp_ms: int) -> Any:
            found = compiled(key, value, timestamp_ms)
            return None if found[0] is None else found

        return key_of


@dataclass(frozen=True, eq=False)
class Exploded:
    """A row and what table functions make of it: as many rows as the longest has values."""

    calls: Row

    def __post_init__(self) -> None:
        object.__setattr__(self, "_compiled", None)

    def __getstate__(self) -> Row:
        return self.calls

    def __setstate__(self, calls: Row) -> None:
        object.__setattr__(self, "calls", calls)
        object.__setattr__(self, "_compiled", None)

    def __call__(self, value: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """`value` ends with the key and the timestamp, which are taken off again."""
        if self._compiled is None:  # type: ignore[attr-defined]
            object.__setattr__(self, "_compiled", self.calls.evaluator())
        row, key, timestamp_ms = value
        lists = [given or [] for given in self._compiled(key, row, timestamp_ms)]  # type: ignore[attr-defined]
        longest = max(map(len, lists))
        return [
            (*row, *[given[place] if place < len(given) else None for given in lists])
            for place in range(longest)
        ]


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
