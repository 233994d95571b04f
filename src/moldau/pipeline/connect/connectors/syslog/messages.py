"""What a syslog message says: RFC 5424, RFC 3164 as it is found in the wild, or text that is neither. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Final, NamedTuple

from moldau.pipeline.connect.connectors.syslog.cef import CommonEvent, common_event

PRIORITY_MAX: Final = 191
"""23 facilities, 8 levels."""
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_BOM: Final = "\ufeff"
_PRIORITY: Final = re.compile(r"<(\d{1,3})>")
_NEW: Final = re.compile(r"([1-9]\d{0,2}) (\S+) (\S+) (\S+) (\S+) (\S+) (?=[-\[])")
_OLD_DATE: Final = re.compile(r"([A-Z][a-z]{2}) ( ?\d{1,2}) (?:(\d{4}) )?(\d{2}):(\d{2}):(\d{2})(?:\.\d+)? ?")
_ISO_DATE: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ")
_TAG: Final = re.compile(r"([^\s:\[\]]{1,64})(?:\[([^\]\s]{1,64})\])?: ?")
_HOST: Final = re.compile(r"(\S+) ")
_ELEMENT: Final = re.compile(
    r"\[([^\s=\]\"]{1,64})((?: [^\s=\]\"]{1,64}=\"(?:\\.|[^\"\\])*\")*)\]", re.DOTALL
)
_PARAMETER: Final = re.compile(r" ([^\s=\]\"]+)=\"((?:\\.|[^\"\\])*)\"", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\([\"\\\]])")


class Kind(StrEnum):
    NEW = "RFC5424"
    OLD = "RFC3164"
    CEF = "CEF"
    UNKNOWN = "UNKNOWN"
    """Malformed: only the raw message is sure."""


class Element(NamedTuple):
    """Of structured data."""

    id: str
    parameters: dict[str, str]


@dataclass(frozen=True, slots=True)
class Message:
    kind: Kind
    raw: str
    date: datetime
    """In UTC. The time of arrival, if the message has none."""
    facility: int | None = None
    level: int | None = None
    host: str | None = None
    message: str | None = None
    tag: str | None = None
    process_id: str | None = None
    version: int | None = None
    app_name: str | None = None
    message_id: str | None = None
    structured_data: Sequence[Element] = field(default=())
    event: CommonEvent | None = None


def parse(data: bytes, arrival: datetime, zone: tzinfo) -> Message:
    """`zone`: of dates without one. What cannot be read is kept as it is."""
    raw = data.decode(errors="replace").removeprefix(_BOM)
    unknown = Message(Kind.UNKNOWN, raw, arrival)
    priority = _PRIORITY.match(raw)
    if priority is None or int(priority[1]) > PRIORITY_MAX:
        event = common_event(raw)
        return unknown if event is None else replace(unknown, kind=Kind.CEF, event=event)
    facility, level = divmod(int(priority[1]), 8)
    rest = raw[priority.end() :]
    base = replace(unknown, facility=facility, level=level, message=rest)
    found = _new(base, rest) or _old(base, rest, arrival, zone) or base
    if found.kind is Kind.NEW:
        return found
    event = common_event(found.message or "")
    return found if event is None else replace(found, kind=Kind.CEF, event=event)


def _new(base: Message, rest: str) -> Message | None:
    header = _NEW.match(rest)
    if header is None:
        return None
    version, date_text, host, app_name, process_id, message_id = header.groups()
    date = base.date if date_text == "-" else _iso_date(date_text)
    read = _structured_data(rest, header.end())
    if date is None or read is None:
        return None
    elements, end = read
    return replace(
        base,
        kind=Kind.NEW,
        date=date,
        version=int(version),
        host=_given(host),
        app_name=_given(app_name),
        process_id=_given(process_id),
        message_id=_given(message_id),
        structured_data=elements,
        message=rest[end + 1 :].removeprefix(_BOM) if end < len(rest) else None,
    )


def _given(text: str) -> str | None:
    return None if text == "-" else text


def _structured_data(rest: str, place: int) -> tuple[list[Element], int] | None:
    """The elements and where they end; None if they are malformed."""
    elements = []
    if rest[place] == "-":
        place += 1
    else:
        while element := _ELEMENT.match(rest, place):
            parameters = {name: _ESCAPED.sub(r"\1", value) for name, value in _PARAMETER.findall(element[2])}
            elements.append(Element(element[1], parameters))
            place = element.end()
        if not elements:
            return None
    return (elements, place) if rest[place : place + 1] in ("", " ") else None


def _old(base: Message, rest: str, arrival: datetime, zone: tzinfo) -> Message | None:
    date: datetime | None
    if old := _OLD_DATE.match(rest):
        date, end = _old_date(old, arrival, zone), old.end()
    elif iso := _ISO_DATE.match(rest):
        date, end = _iso_date(iso[1]), iso.end()
    else:
        return None
    if date is None:
        return None
    host = None
    tag = _TAG.match(rest, end)
    if tag is None and (named := _HOST.match(rest, end)) and not rest.startswith("CEF:", end):
        host, end = named[1], named.end()
        tag = None if rest.startswith("CEF:", end) else _TAG.match(rest, end)
    if rest.startswith("CEF:", end):
        tag = None
    return replace(
        base,
        kind=Kind.OLD,
        date=date,
        host=host,
        tag=tag[1] if tag else None,
        process_id=tag[2] if tag else None,
        message=rest[tag.end() if tag else end :],
    )


def _iso_date(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return None if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _old_date(match: re.Match[str], arrival: datetime, zone: tzinfo) -> datetime | None:
    """Without a year: in the one that brings it nearest to the arrival."""
    month, day, year, *clock = match.groups()
    if month not in MONTHS:
        return None
    here = arrival.astimezone(zone)
    years = [int(year)] if year else [here.year + shift for shift in (-1, 0, 1)]
    found = []
    for one in years:
        try:
            local = datetime(one, MONTHS.index(month) + 1, int(day), *map(int, clock), tzinfo=zone)  # type: ignore[arg-type, misc]
            found.append(local.astimezone(UTC))
        except (ValueError, OverflowError):
            # The 29th of February, mostly.
            continue
    return min(found, key=lambda one: abs(one - arrival), default=None)
