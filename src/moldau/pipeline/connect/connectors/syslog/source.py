"""SyslogSource: one task that listens; each message becomes a record. A malformed one has only its raw text.

Syslog has no acknowledgements: what a sender was rid of, and what is not in Kafka yet when the process ends, is lost.
When only the task ends, the next one in the process goes on with it (`unwritten.py`).
"""

import logging
import os
import socket
import ssl
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import NON_EMPTY, one_of
from moldau.core.settings.key import Importance, boolean, integer, password, string
from moldau.pipeline.connect.api import SourceConnector, SourceContext, SourceTask
from moldau.pipeline.connect.connectors.syslog import unwritten
from moldau.pipeline.connect.connectors.syslog.listener import Arrived, Listener, Transport
from moldau.pipeline.connect.connectors.syslog.messages import parse
from moldau.pipeline.connect.connectors.syslog.values import KEY, VALUE, value_of
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts, values_of

OF: Final = "SyslogSource"
NAMES_MAX: Final = 10_000
LISTENER, RECORDS, TLS = "Listener", "Records", "TLS"

DECLARATIONS: Final = (
    Declaration(
        integer(
            "syslog.port",
            1514,
            "The port to listen on.",
            at_least=1,
            at_most=65_535,
            importance=Importance.HIGH,
        ),
        is_required=True,
        group=LISTENER,
        display_name="Port",
    ),
    Declaration(
        string(
            "syslog.listener",
            Transport.UDP,
            "How messages come: UDP, TCP, or TCPSSL for TCP with TLS.",
            check=one_of(*Transport, ignore_case=True),
            importance=Importance.HIGH,
        ),
        group=LISTENER,
        display_name="Transport",
        recommends=lambda _: list(Transport),
    ),
    Declaration(
        string(
            "syslog.listen.address",
            "0.0.0.0",  # noqa: S104 as in Confluent's connector
            "The address to listen on. 127.0.0.1: only messages of this machine.",
            check=NON_EMPTY,
            importance=Importance.LOW,
        ),
        group=LISTENER,
        display_name="Address",
    ),
    Declaration(
        string("topic", "syslog", "The topic to write to.", check=NON_EMPTY, importance=Importance.HIGH),
        group=RECORDS,
        display_name="Topic",
    ),
    Declaration(
        string(
            "syslog.timezone",
            "UTC",
            "The time zone of dates without one, as those of RFC 3164.",
            importance=Importance.LOW,
        ),
        group=RECORDS,
        display_name="Time zone",
    ),
    Declaration(
        boolean(
            "syslog.reverse.dns.remote.ip",
            False,
            "Whether the sender's name is looked up and written as `hostname`.",
            importance=Importance.LOW,
        ),
        group=RECORDS,
        display_name="Look up senders",
    ),
    Declaration(
        integer(
            "syslog.reverse.dns.cache.ms",
            60_000,
            "How long a name that was looked up is used, in milliseconds.",
            at_least=0,
            importance=Importance.LOW,
        ),
        group=RECORDS,
        display_name="Names are kept (ms)",
    ),
    Declaration(
        integer(
            "syslog.queue.max.size",
            50_000,
            "The largest number of messages that wait for Kafka. Then senders over TCP have to wait, and datagrams are "
            "dropped.",
            at_least=1,
            importance=Importance.LOW,
        ),
        group=RECORDS,
        display_name="Waiting messages",
    ),
    Declaration(
        integer(
            "syslog.queue.batch.size",
            2_000,
            "The largest number of messages that are taken at once.",
            at_least=1,
            importance=Importance.LOW,
        ),
        group=RECORDS,
        display_name="Batch size",
    ),
    Declaration(
        integer(
            "syslog.backoff.millis",
            100,
            "How long the task waits for a message in milliseconds before it looks whether it should stop.",
            at_least=10,
            at_most=10_000,
            importance=Importance.LOW,
        ),
        group=RECORDS,
        display_name="Wait (ms)",
    ),
    Declaration(
        string(
            "syslog.ssl.cert.chain.path", "", "TCPSSL: a file with the certificate of the listener, in PEM."
        ),
        group=TLS,
        display_name="Certificate",
    ),
    Declaration(
        string("syslog.ssl.key.path", "", "TCPSSL: a file with the private key of the certificate, in PEM."),
        group=TLS,
        display_name="Key",
    ),
    Declaration(
        password("syslog.ssl.key.password", "TCPSSL: the password of the private key."),
        group=TLS,
        display_name="Password of the key",
    ),
)


log = logging.getLogger(__name__)


class SyslogSourceTask(SourceTask):
    def start(self, config: Texts, context: SourceContext) -> None:
        values = values_of(DECLARATIONS, config, of=OF)
        self._topic: str = values["topic"]
        self._count_max: int = values["syslog.queue.batch.size"]
        self._wait_s: float = values["syslog.backoff.millis"] / 1000
        self._zone = _zone(values)
        self._names = Names(values["syslog.reverse.dns.cache.ms"] / 1000)
        self._looks_up: bool = values["syslog.reverse.dns.remote.ip"]
        self._listener = _listener(values)
        self._id = f"{config.get('name', OF)}: {self._listener.place}"
        self._again: deque[Arrived] = deque()
        """What an earlier task has left."""
        self._uncommitted: list[Arrived] = []

    def poll(self) -> Sequence[SourceRecord]:
        """Another task may have had the port until now: to listen is tried again and again."""
        if not self._listener.is_open:
            self._listen()
        self._again += unwritten.take(self._id)
        if self._again:
            found = [self._again.popleft() for _ in range(min(self._count_max, len(self._again)))]
        else:
            found = self._listener.take(self._count_max, self._wait_s)
        self._uncommitted += found
        return [self._record(one) for one in found]

    def committed(self) -> None:
        self._uncommitted.clear()

    def next_poll_ms(self) -> int:
        return 1

    def stop(self) -> None:
        if not hasattr(self, "_listener"):
            return
        self._listener.close()
        left = [*self._uncommitted, *self._again, *self._listener.left()]
        self._uncommitted.clear()
        self._again.clear()
        if left:
            unwritten.keep(self._id, left)
            log.warning(
                "%s: %d messages were received and are not in Kafka: they are written if the task starts again in this "
                "process (%d), and lost otherwise",
                self._id,
                len(left),
                os.getpid(),
            )

    def _listen(self) -> None:
        self._listener.open()
        log.info("listening to %s", self._listener.place)

    def _record(self, arrived: Arrived) -> SourceRecord:
        message = parse(arrived.data, arrived.at, self._zone)
        name = self._names.of(arrived.address) if self._looks_up else None
        return SourceRecord(
            self._topic,
            key=Struct(KEY, (arrived.address,)),
            key_schema=KEY,
            value=value_of(message, arrived.address, name),
            value_schema=VALUE,
            timestamp_ms=int(arrived.at.timestamp() * 1000),
        )


class Names:
    """Of senders. One whose name is unknown is asked for again as late as one whose name is known."""

    def __init__(self, kept_s: float) -> None:
        self._kept_s = kept_s
        self._found: dict[str, tuple[float, str | None]] = {}

    def of(self, address: str) -> str | None:
        now = time.monotonic()
        known = self._found.get(address)
        if known is not None and now < known[0] + self._kept_s:
            return known[1]
        name = None
        with suppress(OSError):
            name = socket.gethostbyaddr(address)[0]
        if len(self._found) >= NAMES_MAX:
            self._found.clear()
        self._found[address] = now, name
        return name


class SyslogSourceConnector(SourceConnector):
    declarations = DECLARATIONS
    task_class = SyslogSourceTask
    aliases = ("SyslogSource", "Syslog", "io.confluent.connect.syslog.SyslogSourceConnector")

    def start(self, config: Texts) -> None:
        values = values_of(DECLARATIONS, config, of=OF)
        _zone(values)
        _listener(values)
        super().start(config)

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        """One: a port can be listened to once."""
        return [self.config]

    @classmethod
    def is_exactly_once(cls, config: Texts) -> bool:
        """There are no positions to go back to."""
        return False

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        try:
            values = values_of(DECLARATIONS, config, of=OF)
        except ConfigError:
            # What is wrong with a single setting is reported with it.
            return ()
        try:
            _zone(values)
            _listener(values)
        except ConfigError as wrong:
            names = [one.name for one in DECLARATIONS if one.name in str(wrong)]
            name = min(names, key=str(wrong).index, default="syslog.listener")
            return [ConfigValue(name, config.get(name), errors=[str(wrong)])]
        return ()


def _listener(values: Mapping[str, Any]) -> Listener:
    """It does not listen yet. Raises ConfigError."""
    transport = Transport(values["syslog.listener"].upper())
    tls = _tls(values) if transport is Transport.TLS else None
    address, port = values["syslog.listen.address"], values["syslog.port"]
    return Listener(transport, address, port, values["syslog.queue.max.size"], tls)


def _zone(values: Mapping[str, Any]) -> ZoneInfo:
    name = values["syslog.timezone"]
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(
            f"syslog.timezone={name} is not a known time zone: name one such as Europe/Prague"
        ) from None


def _tls(values: Mapping[str, Any]) -> ssl.SSLContext:
    chain, key = values["syslog.ssl.cert.chain.path"], values["syslog.ssl.key.path"]
    if not chain or not key:
        raise ConfigError(
            "syslog.ssl.cert.chain.path and syslog.ssl.key.path are needed for syslog.listener=TCPSSL"
        )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        # Without a password, an encrypted key would ask for one on the terminal.
        context.load_cert_chain(chain, key, password=values["syslog.ssl.key.password"] or "")
    except OSError as failure:  # As those of ssl are.
        raise ConfigError(
            f"syslog.ssl.cert.chain.path={chain} with syslog.ssl.key.path={key} cannot be used: {failure}"
        ) from failure
    return context
