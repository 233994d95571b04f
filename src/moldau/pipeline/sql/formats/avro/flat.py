"""Records of plain fields, by straight-line code: less than half of the time that a general codec takes.

Plain are Avro's primitive types, alone or in a union with null. Most rows have no others.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from moldau.pipeline.code.generated import generated_function

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
_WRITE_NUMBER: Final = (
    "while n > 127: out.append(n & 127 | 128); n >>= 7",
    "out.append(n)",
)
_WRITES: Final[dict[str, tuple[str, ...]]] = {
    "boolean": ("if {v} is None: raise TypeError('null is no boolean')", "out.append(1 if {v} else 0)"),
    **{
        kind: (
            f"if not {-limit} <= {{v}} < {limit}: raise ValueError('a number is out of range')",
            "n = ({v} << 1) ^ ({v} >> 63)",
            *_WRITE_NUMBER,
        )
        for kind, limit in (("int", 2**31), ("long", 2**63))
    },
    "float": ("out += float_bytes({v})",),
    "double": ("out += double_bytes({v})",),
    "bytes": ("n = len({v}) << 1", *_WRITE_NUMBER, "out += {v}"),
    "string": ("t = {v}.encode()", "n = len(t) << 1", *_WRITE_NUMBER, "out += t"),
}
_NAMESPACE: Final = {
    "float_bytes": struct.Struct("<f").pack,
    "double_bytes": struct.Struct("<d").pack,
    "bytearray": bytearray,
    "bytes": bytes,
    "TypeError": TypeError,
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
        found = _read_lines(field["type"], f"v{index}")
        if found is None:
            return None
        lines += found
    names = {f"n{index}": field["name"] for index, field in enumerate(tree["fields"])}
    pairs = ", ".join(f"{name}: v{index}" for index, name in enumerate(names))
    lines += ["if p > len(data): raise EOFError('the record ends too early')", f"return {{{pairs}}}"]
    made: Callable[[bytes, int], dict[str, Any]] = generated_function("data, p", lines, _NAMESPACE | names)
    return made


def flat_encoder(tree: Any) -> Callable[[bytes, dict[str, Any]], bytes] | None:
    """Of what goes in front and a value for every field. None where the schema is no record of plain fields."""
    if not isinstance(tree, dict) or tree.get("type") != "record":
        return None
    lines = ["out = bytearray(front)"]
    for index, field in enumerate(tree["fields"]):
        found = _write_lines(field["type"], "v")
        if found is None:
            return None
        lines += [f"v = fields[n{index}]", *found]
    names = {f"n{index}": field["name"] for index, field in enumerate(tree["fields"])}
    made: Callable[[bytes, dict[str, Any]], bytes] = generated_function(
        "front, fields", [*lines, "return bytes(out)"], _NAMESPACE | names
    )
    return made


def _write_lines(kind: Any, value: str) -> list[str] | None:
    null_at = _null_at(kind)
    if null_at is None:
        return _plain(_WRITES, kind, value)
    write = _plain(_WRITES, kind[1 - null_at], value)
    if write is None:
        return None
    return [
        f"if {value} is None: out.append({2 * null_at})",
        "else:",
        f"    out.append({2 - 2 * null_at})",
        *(f"    {line}" for line in write),
    ]


def _null_at(kind: Any) -> int | None:
    """Where null is in a union of null and another type."""
    return kind.index("null") if isinstance(kind, list) and len(kind) == 2 and "null" in kind else None


def _read_lines(kind: Any, value: str) -> list[str] | None:
    null_at = _null_at(kind)
    if null_at is None:
        return _plain(_READS, kind, value)
    read = _plain(_READS, kind[1 - null_at], value)
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


def _plain(code: dict[str, tuple[str, ...]], kind: Any, value: str) -> list[str] | None:
    inner = kind.get("type") if isinstance(kind, dict) else kind
    if not isinstance(inner, str) or inner not in code:
        return None
    return [line.replace("{v}", value) for line in code[inner]]
