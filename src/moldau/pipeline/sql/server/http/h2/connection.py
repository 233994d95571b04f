"""An HTTP/2 connection: the socket on one side, streams on the other, between them the state machine of `h2`."""

import asyncio
import logging
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Any, Final

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
from starlette.types import ASGIApp

from moldau.pipeline.sql.server.http.h2.limits import (
    CONNECTION_WINDOW_BYTES,
    HEADER_BYTES_MAX,
    IDLE_S_MAX,
    SILENT_BYTES_MAX,
    STREAM_WINDOW_BYTES,
    STREAMS_MAX,
    TASKS_MAX,
    WRITE_BYTES_MAX,
    Burden,
)
from moldau.pipeline.sql.server.http.h2.stream import Stream, request_scope
from moldau.pipeline.sql.server.http.h2.upgrade import UpgradeRequest

UPGRADED_STREAM: Final = 1
CONFIG: Final = h2.config.H2Configuration(client_side=False, header_encoding=None)
SETTINGS: Final = {
    h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: STREAMS_MAX,
    h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: STREAM_WINDOW_BYTES,
    h2.settings.SettingCodes.MAX_HEADER_LIST_SIZE: HEADER_BYTES_MAX,
}

log = logging.getLogger("moldau.sql")


class Http2Connection(asyncio.Protocol):
    """`connections` and `tasks` are the server's sets, by which it knows what to wait for when it stops."""

    def __init__(
        self,
        app: ASGIApp,
        transport: asyncio.Transport,
        connections: set[Any],
        tasks: set[asyncio.Task[None]],
        facts: Mapping[str, Any],
    ) -> None:
        """`facts` of the client are in the scope of every request."""
        self._app = app
        self._facts = facts
        self.transport = transport
        self._connections = connections
        self._all_tasks = tasks
        self._loop = asyncio.get_running_loop()
        self._state = h2.connection.H2Connection(CONFIG)
        self._state.local_settings = h2.settings.Settings(client=False, initial_values=SETTINGS)
        self._streams: dict[int, Stream] = {}
        self._own_tasks: set[asyncio.Task[None]] = set()
        self._burden = Burden()
        self._silent_bytes = 0
        self._can_write = True
        self._speaks_http2 = False
        """Whether the client has sent a frame. After an upgrade curl has no room for much data before it has."""
        self._is_stopping = False
        self._idle: asyncio.TimerHandle | None = None

    # How it begins and ends

    def start(self, received: bytes, upgrade: UpgradeRequest | None = None, body: bytes = b"") -> None:
        """With what was received on the connection before. ValueError: the upgrade's settings are no settings."""
        self._connections.add(self)
        self._watch_idleness()
        if upgrade is None:
            self._state.initiate_connection()
        else:
            self._state.initiate_upgrade_connection(upgrade.settings)
        self._state.increment_flow_control_window(CONNECTION_WINDOW_BYTES - 65_535)
        self._flush()
        if upgrade is not None:
            pseudo = [(b":method", upgrade.method), (b":path", upgrade.target)]
            self._begin_stream(UPGRADED_STREAM, [*pseudo, *upgrade.headers])
            if body:
                self._streams[UPGRADED_STREAM].feed(body, 0)
            self._streams[UPGRADED_STREAM].end_body()
        if received:
            self.data_received(received)

    def eof_received(self) -> bool:
        """A client that sends nothing more gets nothing more either."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        if self._idle is not None:
            self._idle.cancel()
        for stream in self._streams.values():
            stream.leave()
        self._streams.clear()

    def shutdown(self) -> None:
        """The server stops: running queries end, and requests that have come are answered."""
        self._is_stopping = True
        for stream in self._streams.values():
            stream.hang_up()
        self._close_if_done()

    # What comes in

    def data_received(self, data: bytes) -> None:
        self._silent_bytes += len(data)
        try:
            events = self._state.receive_data(data)
            self._check_progress(bool(events))
        except h2.exceptions.ProtocolError as error:
            log.debug("a client broke HTTP/2: %s", error)
            self._flush()
            self.transport.close()
            return
        if not self._speaks_http2:
            self._speaks_http2 = True
            self._wake(0)
        for event in events:
            self._handle(event)
            if self.transport.is_closing():
                return
        self._flush()

    def _check_progress(self, has_events: bool) -> None:
        """The state machine itself waits for the end of a frame of any size."""
        if has_events:
            self._silent_bytes = 0
        elif self._silent_bytes > SILENT_BYTES_MAX:
            self._say_goodbye(h2.errors.ErrorCodes.FRAME_SIZE_ERROR)
            raise h2.exceptions.ProtocolError("a frame is too large")

    def _handle(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RequestReceived(stream_id=stream_id, headers=headers):
                self._begin_stream(stream_id, list(headers))
            case h2.events.DataReceived(stream_id=stream_id, data=data, flow_controlled_length=size):
                self._feed(stream_id, bytes(data), size)
            case h2.events.StreamEnded(stream_id=stream_id) if stream_id in self._streams:
                self._streams[stream_id].end_body()
            case h2.events.StreamReset(stream_id=stream_id):
                self._add_burden()
                self._leave(stream_id)
            case h2.events.WindowUpdated(stream_id=stream_id):
                self._wake(stream_id)
            case h2.events.RemoteSettingsChanged():
                self._add_burden()
                self._wake(0)
            case h2.events.PingReceived():
                self._add_burden()
            case h2.events.ConnectionTerminated():
                self.transport.close()

    def _begin_stream(self, stream_id: int, headers: list[tuple[bytes, bytes]]) -> None:
        if self._is_stopping or len(self._own_tasks) >= TASKS_MAX:
            self._reset(stream_id, h2.errors.ErrorCodes.REFUSED_STREAM)
            return
        try:
            scope = request_scope(
                headers,
                client=self.transport.get_extra_info("peername"),
                server=self.transport.get_extra_info("sockname"),
                **self._facts,
            )
        except KeyError:
            self._reset(stream_id, h2.errors.ErrorCodes.PROTOCOL_ERROR)
            return
        stream = Stream(self, stream_id, scope)
        self._streams[stream_id] = stream
        task = self._loop.create_task(self._serve(stream_id, stream))
        for tasks in (self._own_tasks, self._all_tasks):
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    async def _serve(self, stream_id: int, stream: Stream) -> None:
        try:
            await self._app(stream.scope, stream.receive, stream.send)
        except Exception:  # The error boundary: one request fails, the connection continues.
            log.exception("%s %s failed", stream.scope["method"], stream.scope["path"])
        if self._streams.pop(stream_id, None) is None:
            return
        self.consumed(stream_id, stream.forget_body())
        if not stream.is_answered:
            self._reset(stream_id, h2.errors.ErrorCodes.INTERNAL_ERROR)
        elif self._is_open(stream_id):
            # Answered before the whole body has come, as a refusal is: the client need not send the rest.
            self._reset(stream_id, h2.errors.ErrorCodes.NO_ERROR)
        self._watch_idleness()
        self._close_if_done()

    def _feed(self, stream_id: int, data: bytes, size: int) -> None:
        stream = self._streams.get(stream_id)
        if stream is None:
            self.consumed(stream_id, size)
            return
        if not data:
            self._add_burden()
        stream.feed(data, size)

    def _leave(self, stream_id: int) -> None:
        stream = self._streams.pop(stream_id, None)
        if stream is not None:
            stream.leave()
            self.consumed(stream_id, stream.forget_body())

    def _wake(self, stream_id: int | None) -> None:
        """0 is the connection: all of them."""
        for stream in list(self._streams.values()) if not stream_id else [self._streams.get(stream_id)]:
            if stream is not None:
                stream.wake()

    def _add_burden(self) -> None:
        if self._burden.add(self._loop.time()):
            log.warning("a client floods its HTTP/2 connection with control frames: the connection is closed")
            self._say_goodbye(h2.errors.ErrorCodes.ENHANCE_YOUR_CALM)
            self.transport.close()

    # What streams ask for

    def consumed(self, stream_id: int, size: int) -> None:
        if size and not self.transport.is_closing():
            self._state.acknowledge_received_data(size, stream_id)
            self._flush()

    def send_head(self, stream_id: int, headers: list[tuple[bytes, bytes]]) -> None:
        self._state.send_headers(stream_id, headers)
        self._flush()

    def sendable(self, stream_id: int) -> int:
        if not self._can_write or not self._speaks_http2:
            return 0
        return min(self._state.local_flow_control_window(stream_id), self._state.max_outbound_frame_size)

    def send_data(self, stream_id: int, data: bytes, *, is_last: bool) -> None:
        self._state.send_data(stream_id, data, end_stream=is_last)
        self._flush()

    # The socket

    def pause_writing(self) -> None:
        self._can_write = False

    def resume_writing(self) -> None:
        self._can_write = True
        self._wake(0)

    def _flush(self) -> None:
        data = self._state.data_to_send()
        if not data or self.transport.is_closing():
            return
        if self.transport.get_write_buffer_size() > WRITE_BYTES_MAX:
            log.warning("a client does not read the answers to its HTTP/2 frames: the connection is closed")
            self.transport.abort()
            return
        self.transport.write(data)

    def _reset(self, stream_id: int, code: h2.errors.ErrorCodes) -> None:
        if not self.transport.is_closing() and self._is_open(stream_id):
            self._state.reset_stream(stream_id, code)
            self._flush()

    def _is_open(self, stream_id: int) -> bool:
        stream = self._state.streams.get(stream_id)
        return stream is not None and not stream.closed

    def _say_goodbye(self, code: h2.errors.ErrorCodes) -> None:
        if not self.transport.is_closing():
            self._state.close_connection(code)
            self._flush()

    def _close_if_done(self) -> None:
        if self._is_stopping and not self._streams:
            self._say_goodbye(h2.errors.ErrorCodes.NO_ERROR)
            self.transport.close()

    def _watch_idleness(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self._loop.call_later(IDLE_S_MAX, self._close_idle)

    def _close_idle(self) -> None:
        if self._streams:
            self._watch_idleness()
            return
        self._say_goodbye(h2.errors.ErrorCodes.NO_ERROR)
        self.transport.close()


def are_settings(header: bytes) -> bool:
    """Whether HTTP2-Settings holds what the header of that name must."""
    try:
        payload = urlsafe_b64decode(header + b"=" * (-len(header) % 4))
    except (Base64Error, ValueError):
        return False
    return len(payload) % 6 == 0
