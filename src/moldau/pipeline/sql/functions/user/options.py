"""What a decorator says of a function besides its types."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from moldau.pipeline.sql.functions.declaration import Category

OnError = Literal["null", "dead_letter"]
TIME_LIMIT_MS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Options:
    name: str | None = None
    """Default: that of the function, in upper case."""
    doc: str | None = None
    """Default: the docstring."""
    author: str = ""
    category: Category = Category.OTHER
    examples: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    """Types of SQL for parameters, in the place of hints."""
    returns: str | None = None
    is_deterministic: bool = True
    on_error: OnError = "null"
    """A call that fails is NULL and in the processing log, or the record goes to the dead letters."""
    time_limit_ms: int = TIME_LIMIT_MS
    """A call that takes longer has failed."""
    setup: Callable[[], Any] | None = None
    """Called once in each process, before the first call: what it returns is the function's first argument."""
