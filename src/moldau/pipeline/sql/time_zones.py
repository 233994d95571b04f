"""Time zones by the names that Java knows: regions, offsets, and some abbreviations."""

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

_UTC: Final = ("Z", "UTC", "GMT", "UT")
_OFFSET: Final = re.compile(
    r"(?:UTC|GMT|UT)?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2})(?::?(?P<seconds>\d{2}))?)?"
)
OFFSET_MAX: Final = timedelta(hours=18)
_ABBREVIATIONS: Final = {
    **dict.fromkeys(("PST", "PDT"), "America/Los_Angeles"),
    "MDT": "America/Denver",
    **dict.fromkeys(("CST", "CDT"), "America/Chicago"),
    "EDT": "America/New_York",
    "AST": "America/Anchorage",
    "BST": "Europe/London",
    "CEST": "Europe/Paris",
    "ECT": "Europe/Paris",  # codespell:ignore ect
    "EEST": "Europe/Helsinki",
    "IST": "Asia/Kolkata",  # codespell:ignore ist
    "JST": "Asia/Tokyo",
    "CTT": "Asia/Shanghai",
    "AET": "Australia/Sydney",
    "NST": "Pacific/Auckland",
}
"""Those the time zone database does not have by itself."""


@lru_cache(maxsize=1024)
def zone(name: str) -> tzinfo:
    """ValueError where there is no such zone."""
    if name in _UTC:
        return UTC
    offset = _OFFSET.fullmatch(name)
    try:
        if offset is None:
            return ZoneInfo(_ABBREVIATIONS.get(name, name))
        hours, minutes, seconds = (int(offset[part] or 0) for part in ("hours", "minutes", "seconds"))
        length = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        if minutes < 60 and seconds < 60 and length <= OFFSET_MAX:
            return timezone(-length if offset["sign"] == "-" else length)
    except (KeyError, ValueError, OSError):
        pass
    raise ValueError(f"{name!r} is no time zone; one looks like 'Europe/Prague', 'UTC' or '+02:00'") from None
