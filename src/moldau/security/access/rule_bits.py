"""What rules say, as bits, for questions that are asked a million times a second.

The bits of an operation: one if a rule allows it, and OPERATION_BITS above it one if a rule denies it. HAS_HOSTS is set
if a rule is for one host only; then the bits do not tell everything.
"""

from typing import Final

from moldau.security.access.model import ANYONE, WILDCARD, Pattern

OPERATION_BITS: Final = 16
HAS_HOSTS: Final = 1 << 2 * OPERATION_BITS


class RuleBits:
    """The rules of one kind of resource. Those for whole names are in one dictionary for all principals: an index for
    each principal would cost several cache misses more, and these are what a question costs."""

    def __init__(self) -> None:
        self._by_name: dict[tuple[str, str], int] = {}
        self._broad: dict[str, _Broad] = {}
        """Of principals with rules for prefixes or for every name."""
        self._anyones = 0
        """How many are for everybody."""

    def put(self, principal: str, pattern: Pattern, name: str, bits: int) -> None:
        """Replaces what was there for the principal and the name; 0 removes it."""
        if pattern is not Pattern.PREFIXED and name != WILDCARD:
            before = self._by_name.pop((principal, name), 0)
            if bits:
                self._by_name[principal, name] = bits
        else:
            broad = self._broad.setdefault(principal, _Broad())
            before = broad.put(pattern, name, bits)
            if broad.is_empty:
                del self._broad[principal]
        if principal == ANYONE:
            self._anyones += bool(bits) - bool(before)

    def of(self, principal: str, name: str) -> int:
        """Of all rules that apply to the principal and the name."""
        bits = self._by_name.get((principal, name), 0)
        broad = self._broad.get(principal)
        if broad is not None:
            bits |= broad.of(name)
        if self._anyones:
            bits |= self._by_name.get((ANYONE, name), 0)
            broad = self._broad.get(ANYONE)
            if broad is not None:
                bits |= broad.of(name)
        return bits


class _Broad:
    """The rules of one principal for prefixes and for every name."""

    __slots__ = ("_count_of_length", "_every", "_lengths", "_prefixed")

    def __init__(self) -> None:
        self._every = 0
        self._prefixed: dict[str, int] = {}
        self._count_of_length: dict[int, int] = {}
        self._lengths: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self._every and not self._prefixed

    def put(self, pattern: Pattern, name: str, bits: int) -> int:
        """Returns what was there."""
        if pattern is not Pattern.PREFIXED:
            before, self._every = self._every, bits
            return before
        before = self._prefixed.pop(name, 0)
        if bits:
            self._prefixed[name] = bits
        counts = self._count_of_length
        counts[len(name)] = counts.get(len(name), 0) + bool(bits) - bool(before)
        if not counts[len(name)]:
            del counts[len(name)]
        if len(counts) != len(self._lengths):
            self._lengths = tuple(counts)
        return before

    def of(self, name: str) -> int:
        bits = self._every
        for length in self._lengths:
            # A shorter name is looked up as a whole, and found only if it is a prefix itself.
            bits |= self._prefixed.get(name[:length], 0)
        return bits
