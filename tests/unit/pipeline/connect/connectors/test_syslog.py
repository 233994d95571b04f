"""Syslog without a socket: the formats, how streams are split, settings."""

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from moldau.pipeline.connect.connectors.syslog.frames import MESSAGE_BYTES_MAX, Frames, TooLong
from moldau.pipeline.connect.connectors.syslog.messages import Kind, Message, parse
from moldau.pipeline.connect.connectors.syslog.source import DECLARATIONS, SyslogSourceConnector
from moldau.pipeline.connect.connectors.syslog.values import VALUE, value_of
from moldau.pipeline.connect.data.validation import check
from moldau.pipeline.connect.declarations import validate
from moldau.pipeline.connect.plugins import find_connector

ARRIVAL = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def read(text: str | bytes, zone: str = "UTC") -> Message:
    data = text.encode() if isinstance(text, str) else text
    found = parse(data, ARRIVAL, ZoneInfo(zone))
    check(VALUE, value_of(found, "192.0.2.1", None))
    assert found.raw == data.decode(errors="replace")
    return found


def fields(text: str) -> dict[str, Any]:
    """What the record has besides its raw message."""
    made = value_of(read(text), "192.0.2.1", None).as_dict()
    left_out = ("rawMessage", "remoteAddress")
    return {name: value for name, value in made.items() if value is not None and name not in left_out}


def test_the_well_known_example() -> None:
    """As the records of Confluent's connector have it."""
    found = fields(
        "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - Your refrigerator is running"
    )
    assert found == {
        "type": "RFC5424",
        "date": datetime(2003, 10, 11, 22, 14, 15, 3000, tzinfo=UTC),
        "facility": 4,
        "level": 2,
        "host": "mymachine.example.com",
        "message": "Your refrigerator is running",
        "version": 1,
        "appName": "su",
        "messageId": "ID47",
    }


def test_structured_data() -> None:
    found = read(
        '<165>1 2003-10-11T22:14:15.003+02:00 - app 12 - [ex@1 a="1 \\"x\\" \\] \\\\" b=""][empty@2] \ufeffText [x]'
    )
    assert found.kind is Kind.NEW and found.host is None and found.process_id == "12"
    assert found.date == datetime(2003, 10, 11, 20, 14, 15, 3000, tzinfo=UTC)
    assert [(one.id, one.parameters) for one in found.structured_data] == [
        ("ex@1", {"a": '1 "x" ] \\', "b": ""}),
        ("empty@2", {}),
    ]
    assert found.message == "Text [x]"
    nothing = read("<0>1 - - - - - -")
    assert nothing.kind is Kind.NEW and nothing.message is None and nothing.date == ARRIVAL


@pytest.mark.parametrize(
    ("text", "host", "tag", "process_id", "message"),
    [
        (
            "<34>Oct 11 22:14:15 mymachine su: 'su root' failed",
            "mymachine",
            "su",
            None,
            "'su root' failed",
        ),
        ("<13>Oct  1 22:14:15 host cron[42]: done", "host", "cron", "42", "done"),
        ("<13>Oct  1 22:14:15 cron[42]: done", None, "cron", "42", "done"),
        ("<13>Oct 11 22:14:15.123 host just text", "host", None, None, "just text"),
        ("<13>2025-10-11T22:14:15.000+00:00 host app: text", "host", "app", None, "text"),
        ("<13>Oct 11 2025 22:14:15 fw %ASA-6-302013: Built", "fw", "%ASA-6-302013", None, "Built"),
    ],
)
def test_the_old_format(
    text: str, host: str | None, tag: str | None, process_id: str | None, message: str
) -> None:
    found = read(text)
    assert found.kind is Kind.OLD
    assert (found.host, found.tag, found.process_id, found.message) == (host, tag, process_id, message)
    assert (found.date.month, found.date.hour, found.date.minute) == (10, 22, 14)


def test_the_year_is_the_one_that_fits() -> None:
    assert read("<1>Dec 31 23:59:59 h a: x").date.year == 2025
    assert read("<1>Jan  2 03:04:05 h a: x").date.year == 2026
    assert read("<1>Jan  2 04:04:05 h a: x", "Europe/Prague").date == ARRIVAL
    assert read("<1>Feb 30 00:00:00 h a: x").kind is Kind.UNKNOWN


def test_the_common_event_format() -> None:
    event = "CEF:0|Secu|Fire\\|wall|1.0|100|worm \\\\ stopped|10|src=10.0.0.1 msg=two words\\=here fileType= cs1=a\\nb"
    for text in (
        f"<134>Feb 14 19:04:54 host {event}",
        f"<134>{event}",
        event,
        f"<134>Feb 14 19:04:54 {event}",
    ):
        found = fields(text)
        assert found["type"] == "CEF"
        assert (found["version"], found["deviceVendor"], found["deviceProduct"]) == (0, "Secu", "Fire|wall")
        assert (found["deviceVersion"], found["deviceEventClassId"]) == ("1.0", "100")
        assert (found["name"], found["severity"]) == ("worm \\ stopped", "10")
        assert found["extension"] == {
            "src": "10.0.0.1",
            "msg": "two words=here",
            "fileType": "",
            "cs1": "a\nb",
        }
        assert found.get("host") == ("host" if "host" in text else None)
    assert read("<134>CEF:0|too|short").kind is Kind.UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"no priority",
        b"<999>1 - - - - - - x",
        b"<13",
        b"<13>",
        b"<13>free text",
        b"<13>1 yesterday host app - - - x",
        b'<13>1 - host app - - [x a="1 x',
        b"<13>1 - host app - - -x",
        b"<13>Foo 11 22:14:15 host app: x",
        b"\xff\xfe\x00",
        b"57 <13>cut",
    ],
)
def test_malformed_messages_are_kept(text: bytes) -> None:
    found = read(text)
    assert found.kind is Kind.UNKNOWN and found.date == ARRIVAL and found.host is None


def test_nothing_makes_it_fail() -> None:
    dice = random.Random(5)
    seeds = [
        b'<34>1 2003-10-11T22:14:15.003Z h su 1 ID47 [a b="c"] Your refrigerator',
        b"<34>Oct 11 22:14:15 mymachine su[1]: failed",
        b"<1>CEF:0|a|b|c|d|e|f|g=h i=j",
    ]
    for _ in range(3_000):
        data = bytearray(dice.choice(seeds))
        for _ in range(dice.randrange(1, 4)):
            data[dice.randrange(len(data))] = dice.choice(b'<>[]"\\ |=-:0\x00\xff')
        read(bytes(data))


WHOLE = b"<13>1 - - - - - - a\n<13>b\r\n12 <13>with\nend5 <13>c<14>\x00<15>d\n\n7 <1>1 <x"
PARTS = [b"<13>1 - - - - - - a", b"<13>b", b"<13>with\nend", b"<13>c", b"<14>", b"<15>d", b"<1>1 <x"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_streams_are_split_however_they_arrive(size: int) -> None:
    frames = Frames()
    found = []
    for place in range(0, len(WHOLE), size):
        found += frames.feed(WHOLE[place : place + size])
    assert found == PARTS
    assert frames.end() == []


def test_what_looks_like_a_count_and_is_none() -> None:
    frames = Frames()
    assert frames.feed(b"12 monkeys\n0 <x\n") == [b"12 monkeys", b"0 <x"]
    assert frames.feed(b"the end") == [] and frames.end() == [b"the end"]
    assert frames.feed(b"50 <13>cut") == [] and frames.end() == [b"50 <13>cut"]


def test_lengths_have_a_limit() -> None:
    with pytest.raises(TooLong, match="999999999 bytes"):
        Frames().feed(b"999999999 <13>")
    first, *_ = Frames().feed(b"x" * (MESSAGE_BYTES_MAX + 10))
    assert len(first) == MESSAGE_BYTES_MAX


def test_it_is_found_under_the_well_known_name_and_has_one_task() -> None:
    plugin = find_connector("io.confluent.connect.syslog.SyslogSourceConnector")
    assert plugin.connector is SyslogSourceConnector
    connector = SyslogSourceConnector()
    connector.start({"syslog.port": "1514"})
    assert len(connector.task_configs(4)) == 1


def test_settings_that_cannot_be_used_say_why(tmp_path: Path) -> None:
    errors = {
        one.name: one.errors for one in validate(DECLARATIONS, {"syslog.listener": "QUIC"}) if one.errors
    }
    assert errors.keys() == {"syslog.port", "syslog.listener"}
    (port,) = (one for one in validate(DECLARATIONS, {"syslog.port": "0"}) if one.errors)
    assert port.errors[0].endswith("for example syslog.port=1514")
    tls = {"syslog.port": "1514", "syslog.listener": "tcpssl"}
    (wrong,) = SyslogSourceConnector.check(tls)
    assert wrong.name == "syslog.ssl.cert.chain.path" and "syslog.ssl.key.path" in wrong.errors[0]
    nowhere = str(tmp_path / "nowhere")
    (wrong,) = SyslogSourceConnector.check(
        {**tls, "syslog.ssl.cert.chain.path": nowhere, "syslog.ssl.key.path": nowhere}
    )
    assert "No such file" in wrong.errors[0]
    (wrong,) = SyslogSourceConnector.check({"syslog.port": "1514", "syslog.timezone": "Prague"})
    assert wrong.name == "syslog.timezone" and "Europe/Prague" in wrong.errors[0]
