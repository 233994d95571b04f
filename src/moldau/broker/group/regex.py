"""Patterns consumers subscribe by, matched in time proportional to the name, whatever the pattern.

Python's own engine tries alternatives one after the other, and a pattern could keep a coordinator busy for ever; so
the states a name can be in are followed all at once, and remembered, as RE2 does.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from moldau.broker.group.regex_syntax import (
    Assertion,
    Chars,
    Choice,
    Malformed,
    Node,
    Repeat,
    Sequence,
    parsed,
)
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError

LENGTH_MAX: Final = 1000
INSTRUCTIONS_MAX: Final = 2000
REMEMBERED_MAX: Final = 20_000
"""Names and steps a pattern keeps; then it starts afresh."""


class _Fork(NamedTuple):
    """Go on at each of these."""

    targets: tuple[int, ...]


_Instruction = Chars | Assertion | _Fork
_Where = frozenset[int]
_Around = tuple[bool, bool, bool]
"""At the start, at the end, at a word boundary."""


@lru_cache(maxsize=1000)
def pattern(text: str) -> "Pattern":
    """ApiError INVALID_REGULAR_EXPRESSION for what RE2 would not take, or what is too large."""
    try:
        if len(text) > LENGTH_MAX:
            raise Malformed(f"it has more than {LENGTH_MAX} characters")
        return Pattern(parsed(text))
    except Malformed as problem:
        raise ApiError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"SubscribedTopicRegex `{text[:LENGTH_MAX]}` is not a valid regular expression: {problem}.",
        ) from None


class Pattern:
    def __init__(self, node: Node) -> None:
        self._program: list[_Instruction] = []
        self._emit(node)
        self._end = len(self._program)
        self._names: dict[str, bool] = {}
        self._reached: dict[tuple[_Where, _Around], _Where] = {}
        self._steps: dict[tuple[_Where, str], _Where] = {}

    def chosen_from(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(name for name in names if self.matches(name))

    def matches(self, name: str) -> bool:
        """The whole of it."""
        known = self._names.get(name)
        if known is None:
            if len(self._names) + len(self._steps) > REMEMBERED_MAX:
                self._names.clear()
                self._steps.clear()
                self._reached.clear()
            known = self._names[name] = self._follow(name)
        return known

    def _follow(self, name: str) -> bool:
        where: _Where = frozenset({0})
        before_is_word = False
        for at in range(len(name) + 1):
            char = name[at : at + 1]
            is_word = char.isalnum() or char == "_"
            around = (at == 0, not char, is_word != before_is_word)
            where = self._spread(where, around)
            if not char:
                break
            where = self._advance(where, char)
            if not where:
                return False
            before_is_word = is_word
        return self._end in where

    def _spread(self, where: _Where, around: _Around) -> _Where:
        key = where, around
        found = self._reached.get(key)
        if found is not None:
            return found
        at_start, at_end, at_boundary = around
        holds = {
            Assertion.START: at_start,
            Assertion.END: at_end,
            Assertion.WORD_BOUNDARY: at_boundary,
            Assertion.NO_WORD_BOUNDARY: not at_boundary,
        }
        seen: set[int] = set()
        waiting = list(where)
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            instruction = self._program[at] if at < self._end else None
            if isinstance(instruction, _Fork):
                waiting += instruction.targets
            elif isinstance(instruction, Assertion) and holds[instruction]:
                waiting.append(at + 1)
        self._reached[key] = result = frozenset(seen)
        return result

    def _advance(self, where: _Where, char: str) -> _Where:
        key = where, char
        found = self._steps.get(key)
        if found is None:
            program = (self._program[at] if at < self._end else None for at in where)
            steps = zip(where, program, strict=True)
            found = frozenset(at + 1 for at, step in steps if isinstance(step, Chars) and step.has(char))
            self._steps[key] = found
        return found

    def _emit(self, node: Node) -> None:
        if len(self._program) > INSTRUCTIONS_MAX:
            raise Malformed("it is too large")
        match node:
            case Sequence(parts):
                for part in parts:
                    self._emit(part)
            case Choice(options):
                self._emit_choice(options)
            case Repeat(part, at_least, at_most):
                self._emit_repeat(part, at_least, at_most)
            case _:
                self._program.append(node)

    def _reserve(self) -> int:
        self._program.append(_Fork(()))
        return len(self._program) - 1

    def _emit_choice(self, options: tuple[Node, ...]) -> None:
        fork = self._reserve()
        starts, ends = [], []
        for option in options:
            starts.append(len(self._program))
            self._emit(option)
            ends.append(self._reserve())
        self._program[fork] = _Fork(tuple(starts))
        for end in ends:
            self._program[end] = _Fork((len(self._program),))

    def _emit_repeat(self, part: Node, at_least: int, at_most: int | None) -> None:
        for _ in range(at_least):
            self._emit(part)
        if at_most is None:
            fork = self._reserve()
            self._emit(part)
            back = self._reserve()
            self._program[back] = _Fork((fork,))
            self._program[fork] = _Fork((fork + 1, len(self._program)))
            return
        forks = []
        for _ in range(at_most - at_least):
            forks.append(self._reserve())
            self._emit(part)
        for fork in forks:
            self._program[fork] = _Fork((fork + 1, len(self._program)))
