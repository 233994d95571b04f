"""A uvicorn server on a socket of ours: limits for heads and connections, a clean end on signals and on request.

The application is any ASGI application. It limits bodies itself, because only it knows which may be long.
"""

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from moldau.services.security.guard import CERTIFICATE_PRINCIPAL, Guard, Security
from moldau.services.security.https import Https

HEAD_BYTES_MAX: Final = 64 << 10
HEAD_S_MAX: Final = 30.0
"""How long a client may take for the head of a request."""
KEEP_ALIVE_S: Final = 75
"""Longer than clients keep an idle connection, so that the server never closes one as a request arrives."""
STOP_S: Final = 5
CONNECTIONS_MAX: Final = 10_000
BACKLOG: Final = 2048
OBJECTS_PER_COLLECTION: Final = 50_000

log = logging.getLogger("moldau.services")

Hook = Callable[[], Awaitable[None]]


def event_loop() -> asyncio.AbstractEventLoop:
    """uvloop if it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


class LimitedHttp(HttpToolsProtocol):
    """uvicorn's HTTP/1.1, with limits for the heads of requests."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_size = 0
        self._is_in_head = True
        self._too_slow: asyncio.TimerHandle | None = None
        self.certificate_principal: str | None = None
        """Of the client's certificate, as `User:name`; None without one."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        found = transport.get_extra_info("socket")
        if found is not None and found.family in (socket.AF_INET, socket.AF_INET6):
            # A peer that vanished without a word is noticed.
            found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._look_at_certificate(transport)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_in_head:
            self._head_size += len(data)
            if self._too_slow is None:
                self._watch_head()
        super().data_received(data)
        if self._is_in_head and self._head_size > HEAD_BYTES_MAX and not self.transport.is_closing():
            self.send_400_response(f"The head of a request is larger than {HEAD_BYTES_MAX} bytes.")

    def on_headers_complete(self) -> None:
        self.scope[CERTIFICATE_PRINCIPAL] = self.certificate_principal  # type: ignore[typeddict-unknown-key]
        self._is_in_head = False
        self._stop_watching()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_head = True
        self._head_size = 0
        super().on_message_complete()

    def shutdown(self) -> None:
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and self.transport.get_extra_info("ssl_object") is not None:
            # A goodbye under TLS waits for that of the client, which may be asleep.
            self.transport.abort()
        else:
            super().shutdown()

    def _look_at_certificate(self, transport: asyncio.Transport) -> None:
        connection = transport.get_extra_info("ssl_object")
        certificate = connection.getpeercert(binary_form=True) if connection is not None else None
        if certificate is not None:
            https = cast(_Config, self.config).https
            assert https is not None
            try:
                self.certificate_principal = https.principal_of(certificate)
            except ValueError as unnamed:
                log.warning("closing the connection of %s: %s", self.client, unnamed)
                transport.close()

    def _watch_head(self) -> None:
        self._too_slow = self.loop.call_later(HEAD_S_MAX, self.transport.close)

    def _stop_watching(self) -> None:
        if self._too_slow is not None:
            self._too_slow.cancel()
            self._too_slow = None


class _Config(uvicorn.Config):
    """uvicorn's, with a TLS context of ours."""

    https: Https | None = None

    def load(self) -> None:
        super().load()
        if self.https is not None:
            self.ssl = self.https.context


class _Listener(uvicorn.Server):
    """Ends on SIGINT and SIGTERM, and leaves the rest to the service: uvicorn would raise the signal again, which would
    end the process before the service has stopped."""

    def __init__(self, config: uvicorn.Config, before_shutdown: Hook | None) -> None:
        super().__init__(config)
        self._before_shutdown = before_shutdown

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self.handle_exit)
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._before_shutdown is not None:
            await self._before_shutdown()
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            # One that is left under TLS would keep the loop from closing.
            transport = getattr(connection, "transport", None)
            if transport is not None:
                transport.abort()
        await asyncio.sleep(0)


class HttpServer:
    """Serves an application on a socket that listens already.

    Hooks run in the event loop: `on_start` before the first request, `before_shutdown` while connections are still
    open, so that endless answers can end, `on_stop` after the last request.
    """

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        *,
        security: Security | None = None,
        http: type[LimitedHttp] = LimitedHttp,
        websocket_bytes_max: int | None = None,
        connections_max: int = CONNECTIONS_MAX,
        stop_s: int = STOP_S,
        on_start: Hook | None = None,
        before_shutdown: Hook | None = None,
        on_stop: Hook | None = None,
    ) -> None:
        """With `security`, the application is behind its guard. `websocket_bytes_max`: the largest message of a
        websocket; None for no websockets. `stop_s`: how long running answers may go on when the server stops."""
        self._socket = listener
        self.port: int = listener.getsockname()[1]
        self._on_start = on_start
        self._on_stop = on_stop
        self._security = security
        config = _Config(
            app if security is None else Guard(app, security),
            http=http,
            ws="none" if websocket_bytes_max is None else "websockets-sansio",
            ws_max_size=websocket_bytes_max or 0,
            log_config=None,
            log_level="error",
            access_log=False,
            lifespan="off",
            backlog=BACKLOG,
            # uvicorn refuses the request that reaches its limit.
            limit_concurrency=connections_max + 1,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=stop_s,
            proxy_headers=False,
            server_header=False,
        )
        config.https = security.https if security is not None else None
        self._uvicorn = _Listener(config, before_shutdown)
        self._thread: threading.Thread | None = None

    def run(self, on_ready: Callable[[], None] | None = None) -> None:
        """Serves until a signal or `ask_to_stop`, in a process of its own. `on_ready` is called once requests are
        answered."""
        # What exists now stays. What requests leave behind has no cycles: looking for some often is lost time.
        gc.collect()
        gc.freeze()
        gc.set_threshold(OBJECTS_PER_COLLECTION)
        with asyncio.Runner(loop_factory=event_loop) as runner:
            runner.run(self._serve(on_ready))

    async def _serve(self, on_ready: Callable[[], None] | None) -> None:
        try:
            if self._security is not None:
                await asyncio.to_thread(self._security.start)
            if self._on_start is not None:
                await self._on_start()
            # A signal that follows the ready line at once ends the server cleanly, too.
            with self._uvicorn.capture_signals():
                if on_ready is not None:
                    on_ready()
                fresh = asyncio.create_task(self._security.keep_fresh()) if self._security else None
                try:
                    await self._uvicorn.serve(sockets=[self._socket])
                finally:
                    if fresh is not None:
                        fresh.cancel()
        finally:
            self._socket.close()
            if self._security is not None:
                await asyncio.to_thread(self._security.close)
            if self._on_stop is not None:
                await self._on_stop()

    def ask_to_stop(self) -> None:
        self._uvicorn.should_exit = True

    def start_thread(self, name: str) -> None:
        """For callers without an event loop. Returns once requests are answered."""
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run_thread, args=[ready], name=name, daemon=True)
        self._thread.start()
        ready.wait()

    def _run_thread(self, ready: threading.Event) -> None:
        try:
            self.run(ready.set)
        finally:
            ready.set()

    def stop_thread(self) -> None:
        self.ask_to_stop()
        if self._thread is not None:
            self._thread.join()
