"""Values by name pattern: by a whole name, by the start of names, and for every name."""

from typing import Generic, TypeVar

from moldau.security.access.model import WILDCARD, Pattern

Value = TypeVar("Value")


class ByName(Generic[Value]):
    __slots__ = ("_count_of_length", "lengths", "literal", "prefixed")

    def __init__(self) -> None:
        self.literal: dict[str, Value] = {}
        self.prefixed: dict[str, Value] = {}
        self._count_of_length: dict[int, int] = {}
        self.lengths: tuple[int, ...] = ()
        """Of the prefixes, longest first."""

    def __bool__(self) -> bool:
        return bool(self.literal or self.prefixed)

    def put(self, pattern: Pattern, name: str, value: Value) -> None:
        if pattern is not Pattern.PREFIXED:
            self.literal[name] = value
            return
        if name not in self.prefixed:
            self._count(len(name), 1)
        self.prefixed[name] = value

    def remove(self, pattern: Pattern, name: str) -> None:
        if pattern is not Pattern.PREFIXED:
            self.literal.pop(name, None)
        elif self.prefixed.pop(name, None) is not None:
            self._count(len(name), -1)

    def matching(self, name: str) -> list[Value]:
        """The values of the patterns that the name matches, the most specific first."""
        found = []
        literal = self.literal
        if (value := literal.get(name)) is not None:
            found.append(value)
        if self.lengths:
            size, prefixed = len(name), self.prefixed
            for length in self.lengths:
                if length <= size and (value := prefixed.get(name[:length])) is not None:
                    found.append(value)
        if name != WILDCARD and (value := literal.get(WILDCARD)) is not None:
            found.append(value)
        return found

    def _count(self, length: int, change: int) -> None:
        counts = self._count_of_length
        after = counts.get(length, 0) + change
        if after:
            counts[length] = after
        else:
            del counts[length]
        if len(counts) != len(self.lengths):
            self.lengths = tuple(sorted(counts, reverse=True))
