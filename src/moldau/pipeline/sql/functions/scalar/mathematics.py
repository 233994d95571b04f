"""Powers, logarithms, angles, distances and the least and greatest of some values.

All follow the rules of doubles: outside its domain a function gives NaN, beyond the largest number infinity.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import Category, Form, Parameter, Scalar, Variable
from moldau.pipeline.sql.functions.scalar.ordering import check_order, first_type, rank
from moldau.pipeline.sql.types import DOUBLE, STRING, SqlType

EARTH_RADIUS: Final = {
    **dict.fromkeys(("km", "kilometer", "kilometers", "kilometre", "kilometres"), 6371.0),
    **dict.fromkeys(("mi", "mile", "miles"), 3959.0),
}


def _or_nan(function: Callable[..., float], *arguments: float) -> float:
    try:
        return function(*arguments)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


def acos(value: float) -> float:
    return _or_nan(math.acos, value)


def asin(value: float) -> float:
    return _or_nan(math.asin, value)


def cbrt(value: float) -> float:
    root = math.cbrt(value)
    whole = round(root) if math.isfinite(root) else 0
    return float(whole) if whole**3 == value else root


def cos(value: float) -> float:
    return _or_nan(math.cos, value)


def cosh(value: float) -> float:
    return _or_nan(math.cosh, value)


def cot(value: float) -> float:
    sine = sin(value)
    return math.copysign(math.inf, value) if sine == 0 else cos(value) / sine


def exp(value: float) -> float:
    return _or_nan(math.exp, value)


def sin(value: float) -> float:
    return _or_nan(math.sin, value)


def sinh(value: float) -> float:
    return math.copysign(_or_nan(math.sinh, abs(value)), value)


def tan(value: float) -> float:
    return _or_nan(math.tan, value)


def sqrt(value: float) -> float:
    return _or_nan(math.sqrt, value)


def ln(value: float) -> float:
    return -math.inf if value == 0 else _or_nan(math.log, value)


def log(base: float, value: float) -> float:
    if base <= 0 or base == 1:
        return math.nan
    if value == 0:
        return -math.inf
    if base in (2, 10):
        return _or_nan(math.log2 if base == 2 else math.log10, value)
    return ln(value) / ln(base)


def pi() -> float:
    return math.pi


def power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except ValueError:
        return math.inf if base == 0 else math.nan
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def greatest(*values: Any) -> Any:
    return max((value for value in values if value is not None), key=rank, default=None)


def least(*values: Any) -> Any:
    return min((value for value in values if value is not None), key=rank, default=None)


def geo_distance(lat1: float, lon1: float, lat2: float, lon2: float, unit: str | None = None) -> float:
    """By the haversine formula, on a sphere of the size of the Earth."""
    for latitude in (lat1, lat2):
        if not -90 <= latitude <= 90:
            raise ValueError(f"{latitude} is no latitude: one lies between -90 and 90 degrees")
    for longitude in (lon1, lon2):
        if not -180 <= longitude <= 180:
            raise ValueError(f"{longitude} is no longitude: one lies between -180 and 180 degrees")
    radius = EARTH_RADIUS.get((unit or "").strip().lower() or "km")
    if radius is None:
        raise ValueError(f"{unit!r} is no unit of distance: give one of {', '.join(EARTH_RADIUS)}")
    north, east = math.radians(lat2 - lat1), math.radians(lon2 - lon1)
    across = math.cos(math.radians(lat1)) * math.cos(math.radians(lat2))
    haversine = math.sin(north / 2) ** 2 + across * math.sin(east / 2) ** 2
    return 2 * radius * math.asin(math.sqrt(min(1.0, haversine)))


def _ordered(types: Sequence[SqlType]) -> SqlType:
    kind = first_type(types)
    check_order(kind)
    return kind


def _of_one(name: str, doc: str, meaning: Callable[..., Any], *examples: str) -> Scalar:
    """A function of one DOUBLE; smaller numbers are widened."""
    form = Form((Parameter("value", DOUBLE),), DOUBLE)
    return Scalar(name, Category.MATHEMATICAL, doc, (form,), meaning, examples=examples)


_RADIANS_IN: Final = " The angle is given in radians."
_RADIANS_OUT: Final = " The angle is in radians."
_EACH: Final = Variable("T")
_COMPARED: Final = (
    Form((Parameter("value", _EACH), Parameter("values", _EACH)), _ordered, is_variadic=True),
)
_POINTS: Final = (
    Parameter("lat1", DOUBLE, "latitude of the first point, in degrees"),
    Parameter("lon1", DOUBLE, "longitude of the first point, in degrees"),
    Parameter("lat2", DOUBLE, "latitude of the second point, in degrees"),
    Parameter("lon2", DOUBLE, "longitude of the second point, in degrees"),
)
_UNIT: Final = Parameter("unit", STRING, "KM, which it is without this argument, or MILES")

FUNCTIONS: Final[tuple[Scalar, ...]] = (
    _of_one(
        "ACOS",
        "The arc cosine; NaN outside of -1 to 1." + _RADIANS_OUT,
        acos,
        "ACOS(1) => 0.0",
        "ACOS(2) => NaN",
    ),
    _of_one("ASIN", "The arc sine; NaN outside of -1 to 1." + _RADIANS_OUT, asin, "ASIN(0) => 0.0"),
    _of_one("ATAN", "The arc tangent." + _RADIANS_OUT, math.atan, "ATAN(1) => 0.7853981633974483"),
    Scalar(
        "ATAN2",
        Category.MATHEMATICAL,
        "The angle of the point (x, y) as seen from the origin." + _RADIANS_OUT,
        (Form((Parameter("y", DOUBLE), Parameter("x", DOUBLE)), DOUBLE),),
        math.atan2,
        examples=("ATAN2(1, 0) => 1.5707963267948966", "ATAN2(0, 1) => 0.0"),
    ),
    _of_one("CBRT", "The cube root.", cbrt, "CBRT(27) => 3.0", "CBRT(-8) => -2.0"),
    _of_one("COS", "The cosine." + _RADIANS_IN, cos, "COS(0) => 1.0"),
    _of_one("COSH", "The hyperbolic cosine." + _RADIANS_IN, cosh, "COSH(0) => 1.0"),
    _of_one(
        "COT",
        "The cotangent; infinity at 0." + _RADIANS_IN,
        cot,
        "COT(1) => 0.6420926159343306",
        "COT(0) => Infinity",
    ),
    _of_one("DEGREES", "Radians as degrees.", math.degrees, "DEGREES(PI()) => 180.0"),
    _of_one("EXP", "e to the power of the value.", exp, "EXP(0) => 1.0", "EXP(1) => 2.718281828459045"),
    Scalar(
        "GEO_DISTANCE",
        Category.MATHEMATICAL,
        "The distance between two points on Earth along a great circle.",
        (Form(_POINTS, DOUBLE), Form((*_POINTS, _UNIT), DOUBLE)),
        geo_distance,
        examples=(
            "ROUND(GEO_DISTANCE(50.08, 14.43, 48.2, 16.37)) => 252",
            "ROUND(GEO_DISTANCE(50.08, 14.43, 48.2, 16.37, 'miles')) => 157",
        ),
    ),
    Scalar(
        "GREATEST",
        Category.MATHEMATICAL,
        "The largest of the values that are not null.",
        _COMPARED,
        greatest,
        takes_null=True,
        examples=("GREATEST(3, 7, 5) => 7", "GREATEST('a', NULL, 'c') => 'c'", "GREATEST(1, 2.5) => 2.5"),
    ),
    Scalar(
        "LEAST",
        Category.MATHEMATICAL,
        "The smallest of the values that are not null.",
        _COMPARED,
        least,
        takes_null=True,
        examples=(
            "LEAST(3, 7, 5) => 3",
            "LEAST('a', NULL, 'c') => 'a'",
            "LEAST(CAST(NULL AS INTEGER)) => NULL",
        ),
    ),
    _of_one("LN", "The natural logarithm.", ln, "LN(1) => 0.0", "LN(0) => -Infinity", "LN(-1) => NaN"),
    Scalar(
        "LOG",
        Category.MATHEMATICAL,
        "The logarithm: the natural one, or to a base that comes first. NaN where base or value have none.",
        (
            Form((Parameter("value", DOUBLE),), DOUBLE, meaning=ln),
            Form((Parameter("base", DOUBLE), Parameter("value", DOUBLE)), DOUBLE),
        ),
        log,
        examples=(
            "LOG(1) => 0.0",
            "LOG(2, 8) => 3.0",
            "LOG(2, 0) => -Infinity",
            "LOG(1, 8) => NaN",
            "LOG(10, 1000) => 3.0",
        ),
    ),
    Scalar(
        "PI",
        Category.MATHEMATICAL,
        "The number π.",
        (Form((), DOUBLE),),
        pi,
        examples=("PI() => 3.141592653589793",),
    ),
    Scalar(
        "POWER",
        Category.MATHEMATICAL,
        "The base to the power of the exponent; infinity where that is too large for a DOUBLE.",
        (Form((Parameter("base", DOUBLE), Parameter("exponent", DOUBLE)), DOUBLE),),
        power,
        examples=(
            "POWER(2, 10) => 1024.0",
            "POWER(2, -1) => 0.5",
            "POWER(10, 400) => Infinity",
            "POWER(-1, 0.5) => NaN",
        ),
    ),
    _of_one("RADIANS", "Degrees as radians.", math.radians, "RADIANS(180) => 3.141592653589793"),
    _of_one("SIN", "The sine." + _RADIANS_IN, sin, "SIN(0) => 0.0"),
    _of_one("SINH", "The hyperbolic sine." + _RADIANS_IN, sinh, "SINH(0) => 0.0"),
    _of_one("SQRT", "The square root; NaN of a negative number.", sqrt, "SQRT(16) => 4.0", "SQRT(-1) => NaN"),
    _of_one("TAN", "The tangent." + _RADIANS_IN, tan, "TAN(0) => 0.0"),
    _of_one("TANH", "The hyperbolic tangent." + _RADIANS_IN, math.tanh, "TANH(0) => 0.0"),
)
