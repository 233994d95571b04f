"""Straight-line functions made for a list of columns: a line for each column, and no loop over them.

The source has numbered names only. What is of a user is in the namespace, or a literal that `ascii` has made of text.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any


def generated_function(parameters: str, lines: Sequence[str], namespace: Mapping[str, Any]) -> Any:
    body = "\n    ".join(lines)
    source = f"def generated({parameters}):\n    {body}\n"
    names = {"__builtins__": {}, "int": int, "float": float, "str": str, "bool": bool, **namespace}
    exec(_compiled(source), names)  # noqa: S102
    made = names["generated"]
    made.__doc__ = source
    return made


@lru_cache(1_000)
def _compiled(source: str) -> CodeType:
    """A worker asks for the same function with every batch."""
    return compile(source, "<columns>", "exec")


def tuple_of(parts: Sequence[str]) -> str:
    return f"({''.join(f'{part}, ' for part in parts)})"
