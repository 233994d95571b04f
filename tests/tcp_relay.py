"""A wire to a real server on this machine that a test can cut, or let go dead while it still takes connections."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

CHUNK = 65_536


class Relay:
    """Listens on `port`; every connection is carried to `target_port` and back."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.swallowed = 0
        self._to_swallow = 0
        self._open: list[socket.socket] = []
        self._guard = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def cut(self, *, swallow_next: int = 0) -> None:
        """Ends every connection. So many of those that come next are taken, and nothing is ever said to them."""
        with self._guard:
            self._to_swallow = swallow_next
            cut, self._open = self._open, []
        for each in cut:
            _end(each)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return  # The test is over.
            with self._guard:
                self._open.append(near)
                if self._to_swallow:
                    self._to_swallow -= 1
                    self.swallowed += 1
                    continue
                far = socket.create_connection(("127.0.0.1", self._target_port))
                self._open.append(far)
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=_carry, args=(source, sink), daemon=True).start()


def _carry(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):  # Cut: the other side hears of it below.
        while chunk := source.recv(CHUNK):
            sink.sendall(chunk)
    _end(sink)


def _end(each: socket.socket) -> None:
    with suppress(OSError):  # Ended before.
        each.shutdown(socket.SHUT_RDWR)
    each.close()
