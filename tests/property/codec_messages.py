"""Every declared message in every version, and Hypothesis strategies for its values, derived from the declarations."""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages import API_NAMES, request_class
from moldau.protocol.spec import Field, Message, fields_of

_SCALARS: dict[object, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "int8": st.integers(-(2**7), 2**7 - 1),
    "int16": st.integers(-(2**15), 2**15 - 1),
    "uint16": st.integers(0, 2**16 - 1),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.floats(allow_nan=False),
    "uuid": st.binary(min_size=16, max_size=16),
    "string": st.text(max_size=5),
    "bytes": st.binary(max_size=5),
    "records": st.binary(max_size=200),
}
_ERROR_CODES = st.sampled_from([int(code) for code in ErrorCode if code < 120])
_TIMES_MS = st.integers(0, 2**40)


def message_classes() -> list[type[Message]]:
    requests = [request for key in API_NAMES if (request := request_class(key)) is not None]
    return [cls for request in requests for cls in (request, request.RESPONSE)]


def versions_of(cls: type[Message]) -> range:
    return range(cls.VERSIONS.low, cls.VERSIONS.high + 1)


@cache
def messages(cls: type[Any], version: int, plausible: bool = False) -> st.SearchStrategy[Any]:
    """Messages (or structures) as they can be in this version: what it lacks is at its default.

    Plausible ones keep to known error codes and to times that other people's types can hold.
    """
    present = [field for field in fields_of(cls) if version in field.versions]
    return st.builds(cls, **{field.name: _values(field, version, plausible) for field in present})


def _values(field: Field, version: int, plausible: bool) -> st.SearchStrategy[Any]:
    if isinstance(field.of, type):
        values = messages(field.of, version, plausible)
    elif plausible and field.name.endswith("error_code"):
        values = _ERROR_CODES
    elif plausible and field.of == "int64" and ("_ms" in field.name or "timestamp" in field.name):
        values = _TIMES_MS
    else:
        values = _SCALARS[field.of]
    if field.is_array:
        values = st.lists(values, max_size=2)
    if version in field.nullable:
        values = st.none() | values
    if field.tag is not None:
        values = st.just(field.default) | values
    return values
