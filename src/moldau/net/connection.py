"""One client socket: reads frames, passes each to its session, writes the answers in order.

One request at a time: while an answer is parked or unsent, no further frame is processed. So a client that never reads
costs one answer and the kernel's buffers. Must not know what a frame means.
"""

import logging
import os
import socket
import struct
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Final, Protocol

from moldau.core.chunks import Chunk, FileSlice
from moldau.core.errors import PeerError
from moldau.core.ports import Buffer
from moldau.core.settings.listeners import SecurityProtocol
from moldau.net.fair_share import FairShare
from moldau.net.frames import FrameAssembler

_log = logging.getLogger("moldau.net")

SENDFILE_BYTES_MAX: Final = 4 * 1024 * 1024
"""How much one sendfile call may send before the loop serves other connections."""
SMALL_BYTES_MAX: Final = 16 << 10
GATHERED_BYTES_MAX: Final = 256 << 10
"""Chunks of up to SMALL_BYTES_MAX are copied into one of up to GATHERED_BYTES_MAX."""
MORE_FOLLOWS: Final = getattr(socket, "MSG_MORE", 0)
"""Makes the kernel wait for more data before it sends a packet (Linux only)."""
PORTION_BYTES_MIN: Final = 2 << 20
PORTION_BYTES_PER_ROUND_TRIP_US: Final = 1000
"""One gigabyte per second, whatever the round trip time."""
PORTION_CALLS: Final = 256
"""The round trip time is measured again after this many calls of `portion_bytes`."""
ROUND_TRIP_AT: Final = 68
"""The offset of the round trip time, in microseconds, in the kernel's `struct tcp_info`."""
IPV4_MAPPED: Final = "::ffff:"
"""The prefix of IPv4 addresses on a socket that listens for both families."""


class Session(Protocol):
    """Receives the frames of a connection."""

    def on_frame(self, frame: memoryview) -> list[Chunk] | None: ...

    def closed(self) -> None: ...


class Connection:
    __slots__ = (
        "_busy", "_frames", "_loop", "_on_closed", "_outgoing", "_portion_bytes", "_portion_calls", "_reading",
        "_resting", "_rests_until", "_session", "_share", "_socket", "_writing", "file_number",
        "is_closed", "last_active", "listener", "local_host", "local_port", "peer", "protocol", "tls_principal",
    )  # fmt: skip

    def __init__(
        self,
        loop: AbstractEventLoop,
        sock: socket.socket,
        listener: str,
        protocol: SecurityProtocol,
        frames: FrameAssembler,
        share: FairShare,
        on_closed: Callable[["Connection"], None],
    ) -> None:
        self._loop = loop
        self._socket = sock
        self.file_number = sock.fileno()
        self._frames = frames
        self._share = share
        self._on_closed = on_closed
        self._outgoing: deque[Chunk] = deque()
        self._busy = False
        self._resting = False
        self._rests_until = 0.0
        self._reading = False
        self._writing = False
        self._portion_bytes = 0
        self._portion_calls = 0
        self.is_closed = False
        self.listener = listener
        self.protocol = protocol
        self.tls_principal: str | None = None
        """The principal of the client's certificate, as `User:name`; None without one."""
        host, port = sock.getpeername()[:2]
        self.peer = f"{host.removeprefix(IPV4_MAPPED)}:{port}"
        local_host, self.local_port = sock.getsockname()[:2]
        self.local_host = local_host.removeprefix(IPV4_MAPPED)
        self.last_active = loop.time()
        self._session: Session

    def start(self, session: Session) -> None:
        self._session = session
        self._resume_reading()

    def reply(self, chunks: list[Chunk]) -> None:
        """Sends the answer to a frame for which the session returned None."""
        if self.is_closed:
            return
        assert self._busy, "an answer without a request"
        self._busy = False
        self._send(chunks)
        if not self.is_closed:
            self._serve_frames()

    def abort(self, reason: str) -> None:
        """Closes the connection and logs the reason in one line."""
        if not self.is_closed:
            _log.warning("closing the connection of %s on %s: %s", self.peer, self.listener, reason)
            self.close()

    def close(self) -> None:
        if self.is_closed:
            return
        self.is_closed = True
        self._pause_reading()
        if self._writing:
            self._loop.remove_writer(self._socket)
        self._socket.close()
        self._outgoing.clear()
        self._session.closed()
        # Session and connection refer to each other. Without this, their memory would wait for the garbage collector.
        del self._session
        self._on_closed(self)

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is being prepared or sent."""
        return self._busy or bool(self._outgoing)

    def portion_bytes(self) -> int:
        """The size an answer should not exceed, so that a client processes one while the next is being sent. Larger for
        a distant client, whose next request takes longer to arrive."""
        if self._portion_calls == 0:
            self._portion_calls = PORTION_CALLS
            self._portion_bytes = max(
                PORTION_BYTES_MIN, PORTION_BYTES_PER_ROUND_TRIP_US * _round_trip_us(self._socket)
            )
        self._portion_calls -= 1
        return self._portion_bytes

    def limit_frames(self, bytes_max: int, setting: str) -> None:
        """From the next frame on, larger ones close the connection. `setting` is where the limit comes from."""
        self._frames.limit(bytes_max, setting)

    def rest(self, seconds: float) -> None:
        """Serves no further frame for this long. Answers are still sent."""
        self._rests_until = max(self._rests_until, self._loop.time() + seconds)
        if not self._resting:
            self._resting = True
            self._loop.call_later(seconds, self._rested)

    def release_idle_memory(self) -> None:
        self._frames.release()

    def _on_readable(self) -> None:
        if self._busy or self._outgoing or self._resting:
            self._check_for_disconnect()
            return
        try:
            count = self._socket.recv_into(self._frames.target())
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.close()
            return
        if count == 0:
            self._disconnected()
            return
        self.last_active = self._loop.time()
        self._frames.received(count)
        self._serve_frames()

    def _serve_frames(self) -> None:
        """Serves whole frames until one must wait; the answers of one read leave in one write."""
        frames = self._frames
        answers: list[Chunk] = []
        try:
            while not (self._busy or self._outgoing or self._resting or self.is_closed):
                frame = frames.next_frame()
                if frame is None:
                    break
                self._busy = True
                began = perf_counter()
                chunks = self._session.on_frame(frame)
                rest_s = self._share.rest_s(self, perf_counter() - began)
                if rest_s is not None:
                    self.rest(rest_s)
                if chunks is None:
                    break
                self._busy = False
                answers += chunks
                if len(answers) > 1:
                    self._send(answers)
                    answers = []
        except PeerError as error:
            self._send(answers)
            self.abort(str(error))
            return
        except Exception as error:  # noqa: BLE001
            # The error boundary of a connection: a bug that one request meets must not affect other clients.
            _log.exception("a request of %s failed", self.peer)
            self.abort(f"internal error: {error!r}")
            return
        if answers:
            self._send(answers)
        if self.is_closed:
            return
        frames.settle()
        if not (self._busy or self._outgoing or self._resting):
            self._resume_reading()

    def _rested(self) -> None:
        left_s = self._rests_until - self._loop.time()
        if left_s > 0:
            self._loop.call_later(left_s, self._rested)
            return
        self._resting = False
        if not (self.is_closed or self._busy or self._outgoing):
            self._serve_frames()

    def _send(self, chunks: list[Chunk]) -> None:
        if not chunks or self.is_closed:
            return
        if self._outgoing:
            self._outgoing.extend(chunks)
            return
        if len(chunks) == 1 and not isinstance(chunks[0], FileSlice):
            data = chunks[0]
            try:
                sent = self._socket.send(data)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError:
                self.close()
                return
            if sent == len(data):
                return
            self._outgoing.append(memoryview(data)[sent:])
        else:
            self._outgoing.extend(chunks)
        self._flush()

    def _flush(self) -> None:
        """Writes what the socket accepts, and the rest when it is writable again."""
        outgoing = self._outgoing
        try:
            while outgoing:
                self._gather()
                chunk = outgoing[0]
                if isinstance(chunk, FileSlice):
                    file, position, size = chunk
                    file_number = file.fileno()
                    if file_number < 0:
                        outgoing[0] = chunk.read()
                        continue
                    wanted = min(size, SENDFILE_BYTES_MAX)
                    sent = os.sendfile(self.file_number, file_number, position, wanted)
                    if sent == 0:
                        raise shorter_slice(chunk)
                    rest: Chunk | None = (
                        FileSlice(file, position + sent, size - sent) if sent < size else None
                    )
                else:
                    wanted = len(chunk)
                    sent = self._socket.send(chunk, MORE_FOLLOWS if len(outgoing) > 1 else 0)
                    rest = memoryview(chunk)[sent:] if sent < wanted else None
                if rest is None:
                    outgoing.popleft()
                    continue
                outgoing[0] = rest
                if sent < wanted:  # The socket's buffer is full.
                    break
        except (BlockingIOError, InterruptedError):
            pass
        except ConnectionError:
            self.close()
            return
        except OSError as error:
            self.abort(str(error))
            return
        self._watch_writable()

    def _watch_writable(self) -> None:
        if bool(self._outgoing) == self._writing:
            return
        self._writing = not self._writing
        if self._writing:
            self._loop.add_writer(self._socket, self._on_writable)
        else:
            self._loop.remove_writer(self._socket)

    def _gather(self) -> None:
        """Joins the small chunks at the front: a system call for each would cost more than reading and copying them."""
        outgoing = self._outgoing
        if len(outgoing) < 2:
            return
        gathered = bytearray()
        while outgoing and len(gathered) < GATHERED_BYTES_MAX:
            chunk = outgoing[0]
            if isinstance(chunk, FileSlice):
                if chunk.size > SMALL_BYTES_MAX:
                    break
                data: Buffer = chunk.read()
                if len(data) < chunk.size:
                    raise shorter_slice(chunk)
            elif len(chunk) > SMALL_BYTES_MAX:
                break
            else:
                data = chunk
            gathered += data
            outgoing.popleft()
        if gathered:
            outgoing.appendleft(gathered)

    def _on_writable(self) -> None:
        self.last_active = self._loop.time()
        self._flush()
        if not self.is_closed and not self._outgoing and not self._busy:
            self._serve_frames()

    def _check_for_disconnect(self) -> None:
        """Data arrived while a request is being served. Leaves it in the kernel unless it is the end of the stream."""
        try:
            if not self._socket.recv(1, socket.MSG_PEEK):
                self._disconnected()
                return
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.close()
            return
        self._pause_reading()

    def _disconnected(self) -> None:
        unfinished = self._frames.buffered_bytes
        if unfinished and not self._busy:
            self.abort(f"the peer closed the connection in the middle of a frame, {unfinished} bytes into it")
        else:
            self.close()

    def _resume_reading(self) -> None:
        if not self._reading and not self.is_closed:
            self._reading = True
            self._loop.add_reader(self._socket, self._on_readable)

    def _pause_reading(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._socket)


def shorter_slice(part: FileSlice) -> OSError:
    return OSError(f"{part.file.path} was truncated while an answer was being sent from it")


def _round_trip_us(sock: socket.socket) -> int:
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, ROUND_TRIP_AT + 4)
        (round_trip_us,) = struct.unpack_from("=I", info, ROUND_TRIP_AT)
    except (OSError, struct.error):
        return 0
    return int(round_trip_us)
