"""MQTT over websockets (6): frames of a websocket around the bytes of a connection.

The connection inside knows nothing of it: this stands in for its transport.
"""

import asyncio
from typing import Any, Final, cast

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from moldau.proxies.mqtt.server.connection import Connection
from moldau.proxies.mqtt.server.hub import Hub

PATHS: Final = frozenset({"/", "/mqtt"})
SUBPROTOCOL: Final = "mqtt"
UNSUPPORTED_DATA: Final = 1003
NORMAL: Final = 1000
FRAME_MARGIN_BYTES: Final = 65_536
"""A frame may hold several packets, or parts of them."""


class WebSocket(asyncio.Protocol):
    """One socket. Its handshake is answered, then it is a stream of bytes."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._frames = ServerProtocol(
            subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]  # a NewType of str
            max_size=hub.settings.packet_bytes_max + FRAME_MARGIN_BYTES,
        )
        self._inner = Connection(hub)
        self._transport: asyncio.Transport | None = None
        self._is_open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._inner.connection_made(_Inside(self, self._transport))

    def connection_lost(self, exc: Exception | None) -> None:
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def data_received(self, data: bytes) -> None:
        self._frames.receive_data(data)
        for event in self._frames.events_received():
            if isinstance(event, Request):
                self._open(event)
            elif not isinstance(event, Frame):
                continue
            elif event.opcode in (Opcode.BINARY, Opcode.CONT):
                if event.data:
                    self._inner.data_received(bytes(event.data))
            elif event.opcode is Opcode.TEXT:  # [MQTT-6.0.0-1]
                self._frames.fail(UNSUPPORTED_DATA, "MQTT is binary")
        self._flush()

    def _open(self, request: Request) -> None:
        if request.path.partition("?")[0] not in PATHS:
            response = self._frames.reject(404, "MQTT is served at /mqtt.\n")
        else:
            response = self._frames.accept(request)
            if response.status_code == 101 and self._frames.subprotocol != SUBPROTOCOL:  # [MQTT-6.0.0-3]
                response = self._frames.reject(400, "The client must offer the subprotocol mqtt.\n")
        self._frames.send_response(response)
        self._is_open = response.status_code == 101

    def send(self, data: bytes) -> None:
        """A packet, as a binary frame."""
        if self._is_open and not self._frames.close_expected():
            self._frames.send_binary(data)
            self._flush()

    def close(self) -> None:
        """After what was sent."""
        if self._is_open and not self._frames.close_expected():
            self._frames.send_close(NORMAL)
            self._flush()
        if self._transport is not None:
            self._transport.close()

    def _flush(self) -> None:
        assert self._transport is not None
        for data in self._frames.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._transport.close()


class _Inside(asyncio.Transport):
    """What the connection takes for its transport."""

    def __init__(self, outside: WebSocket, transport: asyncio.Transport) -> None:
        super().__init__()
        self._outside = outside
        self._transport = transport

    def write(self, data: Any) -> None:
        self._outside.send(bytes(data))

    def close(self) -> None:
        self._outside.close()

    def abort(self) -> None:
        self._transport.abort()

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._transport.set_write_buffer_limits(high, low)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)
