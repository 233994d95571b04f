"""Client patterns, matched by RE2 in time linear in the length of the name.

Python's `re` backtracks, so a pattern could block the broker. Kafka uses RE2 too: the same patterns are valid
here, except for a limit on their size.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError

LENGTH_MAX: Final = 1000
MEMORY_BYTES_MAX: Final = 1024 * 1024
"""Of a compiled pattern and RE2's state cache."""


class Pattern:
    def __init__(self, text: str) -> None:
        """ValueError for a pattern that RE2 rejects."""
        # Imported here because few brokers ever see a pattern.
        import re2

        if len(text) > LENGTH_MAX:
            raise ValueError(f"it has more than {LENGTH_MAX} characters")
        options = re2.Options()
        options.log_errors = False
        options.max_mem = MEMORY_BYTES_MAX
        try:
            self._compiled = re2.compile(text, options)
        except re2.error as error:
            (problem,) = error.args
            raise ValueError(problem.decode() if isinstance(problem, bytes) else problem) from None

    def chosen_from(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(name for name in names if self.matches(name))

    def matches(self, name: str) -> bool:
        """Matches the whole name."""
        return self._compiled.fullmatch(name) is not None


@lru_cache(maxsize=1000)
def pattern(text: str) -> Pattern:
    """ApiError INVALID_REGULAR_EXPRESSION for a pattern that RE2 rejects or that is too large."""
    try:
        return Pattern(text)
    except ValueError as problem:
        raise ApiError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"SubscribedTopicRegex `{text[:LENGTH_MAX]}` is not a valid regular expression: {problem}.",
        ) from None
