"""Records of plain fields, decoded by straight-line code: a third of the time that a general decoder takes.

Plain are Avro's primitive types, alone or in a union with null. Most rows have no others.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from moldau.pipeline.sql.formats.generated import generated_function

_NUMBER: Final = (
    "n = data[p]; p += 1",
    "if n > 127:",
    "    n &= 127; s = 7; b = 128",
    "    while b > 127:",
    "        b = data[p]; p += 1",
    "        n |= (b & 127) << s; s += 7",
    "    if s > 70: raise ValueError('a number is too long')",
    "n = (n >> 1) ^ -(n & 1)",
)
_LENGTH: Final = (*_NUMBER, "if n < 0: raise ValueError('a length is negative')")
_READS: Final[dict[str, tuple[str, ...]]] = {
    "boolean": ("{v} = data[p] == 1; p += 1",),
    "int": (*_NUMBER, "{v} = n"),
    "long": (*_NUMBER, "{v} = n"),
    "float": ("{v}, = float_at(data, p); p += 4",),
    "double": ("{v}, = double_at(data, p); p += 8",),
    "bytes": (*_LENGTH, "{v} = data[p:p + n]; p += n"),
    "string": (*_LENGTH, "{v} = data[p:p + n].decode(); p += n"),
}
_NAMESPACE: Final = {
    "float_at": struct.Struct("<f").unpack_from,
    "double_at": struct.Struct("<d").unpack_from,
    "ValueError": ValueError,
    "EOFError": EOFError,
    "len": len,
}


def flat_decoder(tree: Any) -> Callable[[bytes, int], dict[str, Any]] | None:
    """Of the bytes and where the record begins. None where the schema is no record of plain fields."""
    if not isinstance(tree, dict) or tree.get("type") != "record":
        return None
    lines: list[str] = []
    for index, field in enumerate(tree["fields"]):
        found = _lines(field["type"], f"v{index}")
        if found is None:
            return None
        lines += found
    names = {f"n{index}": field["name"] for index, field in enumerate(tree["fields"])}
    pairs = ", ".join(f"{name}: v{index}" for index, name in enumerate(names))
    lines += ["if p > len(data): raise EOFError('the record ends too early')", f"return {{{pairs}}}"]
    made: Callable[[bytes, int], dict[str, Any]] = generated_function("data, p", lines, _NAMESPACE | names)
    return made


def _lines(kind: Any, value: str) -> list[str] | None:
    if not isinstance(kind, list):
        return _read(kind, value)
    if len(kind) != 2 or "null" not in kind:
        return None
    null_at = kind.index("null")
    read = _read(kind[1 - null_at], value)
    if read is None:
        return None
    # A branch is its index, zigzag: 0 or 2.
    return [
        "b = data[p]; p += 1",
        f"if b == {2 - 2 * null_at}:",
        *(f"    {line}" for line in read),
        f"elif b == {2 * null_at}: {value} = None",
        "else: raise ValueError('a union has no such branch')",
    ]


def _read(kind: Any, value: str) -> list[str] | None:
    inner = kind.get("type") if isinstance(kind, dict) else kind
    if not isinstance(inner, str) or inner not in _READS:
        return None
    return [line.replace("{v}", value) for line in _READS[inner]]
