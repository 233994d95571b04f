"""Numbers as text, as Java writes them, and numbers read as Java reads them."""

import math
import re
import struct
from decimal import Decimal
from typing import Final

_FLOAT: Final = struct.Struct(">f")
_WHOLE: Final = re.compile(r"[+-]?\d+")
_REAL: Final = re.compile(r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)")


def double_text(value: float) -> str:
    """As Java writes a double: 1.0, 1.0E10, NaN, Infinity."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        text = format(Decimal(repr(value)), "f")
        return text if "." in text else text + ".0"
    sign, digits, _ = Decimal(repr(value)).normalize().as_tuple()
    exponent = Decimal(repr(value)).adjusted()
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{fraction}E{exponent}"


def float_text(value: float) -> str:
    """As Java writes a float of 32 bits: with as many digits as tell it from its neighbours."""
    return double_text(shortest_float(value))


def shortest_float(value: float) -> float:
    """The number whose text is the shortest of those that mean the same float of 32 bits."""
    if not math.isfinite(value):
        return value
    packed = float_bits(value)
    for digits in range(6, 9):
        found = float(f"{value:.{digits}g}")
        if float_bits(found) == packed:
            return found
    return float(f"{value:.9g}")


def float_bits(value: float) -> bytes:
    """Rounded to 32 bits; what is too large is infinite."""
    try:
        return _FLOAT.pack(value)
    except OverflowError:
        return _FLOAT.pack(math.copysign(math.inf, value))


def rounded_float(value: float) -> float:
    """The float of 32 bits that is nearest."""
    found: float = _FLOAT.unpack(float_bits(value))[0]
    return found


def whole_number(text: str) -> int:
    """As `Long.parseLong` reads it, without limits. ValueError for spaces, underscores and everything else."""
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def real_number(text: str) -> float:
    """As `Double.parseDouble` reads it, but for hexadecimal numbers."""
    stripped = text.strip()
    if not _REAL.fullmatch(stripped):
        raise ValueError(f"{text!r} is no number")
    return float(stripped.rstrip("fFdD") if stripped[-1] in "fFdD" else stripped)
