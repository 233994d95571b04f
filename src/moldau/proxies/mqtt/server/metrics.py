"""Figures of the proxy in Prometheus' text format, over a listener of their own."""

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from typing import Final, NamedTuple

from moldau.proxies.mqtt.server.hub import Hub

HEAD_BYTES_MAX: Final = 8_192
HEAD_S_MAX: Final = 10.0
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

log = logging.getLogger("moldau.mqtt")


class Figure(NamedTuple):
    name: str
    kind: str
    help: str
    value: int


def figures(hub: Hub) -> Iterator[Figure]:
    """As they are now. Counters begin with the process, or when the state was read again."""
    yield Figure("connections", "gauge", "Clients that are connected.", len(hub.connections))
    yield Figure("sessions", "gauge", "Sessions, with a connection or without.", len(hub.sessions))
    yield Figure("subscriptions", "gauge", "Subscriptions of connected clients.", hub.tree.count)
    yield Figure("retained_messages", "gauge", "Retained messages.", hub.retained.count)
    yield Figure("backlog_bytes", "gauge", "Bytes on their way to Kafka.", hub.backlog.bytes)
    yield Figure("received_messages_total", "counter", "Messages from clients.", hub.publishing.received)
    yield Figure(
        "failed_messages_total", "counter", "Messages that Kafka did not take.", hub.publishing.failed
    )
    yield Figure("sent_messages_total", "counter", "Messages to clients.", hub.delivery.sent)
    yield Figure(
        "dropped_messages_total", "counter", "Messages of QoS 0 for clients too slow.", hub.delivery.dropped
    )
    yield Figure(
        "transactions_total", "counter", "Transactions with the state of sessions.", hub.state.written
    )


def text(hub: Hub) -> str:
    """All figures."""
    lines = []
    for name, kind, meaning, value in figures(hub):
        full = f"moldau_mqtt_{name}"
        lines += [f"# HELP {full} {meaning}", f"# TYPE {full} {kind}", f"{full} {value}"]
    return "\n".join(lines) + "\n"


class MetricsPage:
    """Answers GET /metrics, and closes the connection."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request."""
        try:
            async with asyncio.timeout(HEAD_S_MAX):
                head = await reader.readuntil(b"\r\n\r\n")
            method, _, rest = head.partition(b" ")
            path = rest.partition(b" ")[0].partition(b"?")[0]
            if method in (b"GET", b"HEAD") and path == b"/metrics":
                status, body = "200 OK", text(self._hub)
            else:
                status, body = "404 Not Found", "The figures are at /metrics.\n"
            content = body.encode()
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {len(content)}\r\n"
                "Connection: close\r\n\r\n".encode()
            )
            if method != b"HEAD":
                writer.write(content)
            await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            log.debug("a request for metrics was no HTTP, or came too slowly")
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
