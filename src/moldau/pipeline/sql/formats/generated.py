"""Straight-line functions made for a list of columns: a line for each column, and no loop over them.

The source has numbered names only; names of columns and everything else of a user is in the namespace.
"""

from collections.abc import Mapping, Sequence
from typing import Any


def generated_function(parameters: str, lines: Sequence[str], namespace: Mapping[str, Any]) -> Any:
    body = "\n    ".join(lines)
    source = f"def generated({parameters}):\n    {body}\n"
    names = {"__builtins__": {}, "int": int, "float": float, "str": str, "bool": bool, **namespace}
    exec(compile(source, "<columns>", "exec"), names)  # noqa: S102
    made = names["generated"]
    made.__doc__ = source
    return made


def tuple_of(parts: Sequence[str]) -> str:
    return f"({''.join(f'{part}, ' for part in parts)})"
