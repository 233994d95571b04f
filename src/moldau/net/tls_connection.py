"""A client socket under TLS. What the client sends is decrypted into the buffer its frames are read from; answers are
encrypted in large portions.

The TLS library works on memory, not on the socket: a read or write of many records is one system call. The steps of a
handshake run on worker threads: signing takes longer than answering a request.
"""

import socket
import ssl
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import Final, Protocol

from moldau.core.chunks import Chunk, FileSlice
from moldau.core.ports import Buffer
from moldau.core.settings.listeners import SecurityProtocol
from moldau.net.connection import Connection, shorter_slice
from moldau.net.fair_share import FairShare
from moldau.net.frames import FrameAssembler

RAW_BYTES: Final = 256 << 10
"""How much is read from a socket at once."""
ENCRYPTED_BYTES: Final = 256 << 10
"""How much is encrypted before it is sent."""
FLUSH_BYTES_MAX: Final = 1 << 20
"""How much one connection may send before the loop serves others."""
HANDSHAKE_THREADS: Final = 2
HANDSHAKE_RECORD: Final = 0x16
HANDSHAKE_BYTES_MAX: Final = 256 << 10
"""A client that has sent more and is not done is refused."""
SENT: Final = b""
"""Stands in the queue of answers for encrypted bytes that the socket has not taken yet."""


class TlsIdentity(Protocol):
    """What a listener shows its clients, and what it makes of their certificates."""

    @property
    def server(self) -> ssl.SSLContext: ...

    def principal_of(self, certificate: bytes) -> str: ...


class TlsWorkshop:
    """What all TLS connections of a loop share: a buffer for encrypted bytes, and threads for handshakes."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._is_used = False

    @cached_property
    def raw(self) -> memoryview:
        return memoryview(bytearray(RAW_BYTES))

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(HANDSHAKE_THREADS, thread_name_prefix="tls")

    def run(self, step: Callable[[], bool], then: Callable[[Future[bool]], None]) -> None:
        self._is_used = True
        self._loop.run_in_executor(self._threads, step).add_done_callback(then)

    def close(self) -> None:
        if self._is_used:
            self._threads.shutdown(wait=False, cancel_futures=True)


class TlsConnection(Connection):
    __slots__ = (
        "_deadline", "_decrypts_later", "_encrypted", "_from_client", "_handshake_bytes", "_identity",
        "_is_drained", "_is_open", "_tls", "_to_client", "_workshop",
    )  # fmt: skip

    def __init__(
        self,
        loop: AbstractEventLoop,
        sock: socket.socket,
        listener: str,
        protocol: SecurityProtocol,
        frames: FrameAssembler,
        share: FairShare,
        on_closed: Callable[[Connection], None],
        workshop: TlsWorkshop,
        identity: TlsIdentity,
        handshake_s_max: float,
    ) -> None:
        super().__init__(loop, sock, listener, protocol, frames, share, on_closed)
        self._workshop = workshop
        self._identity = identity
        self._from_client = ssl.MemoryBIO()
        self._to_client = ssl.MemoryBIO()
        self._tls = identity.server.wrap_bio(self._from_client, self._to_client, server_side=True)
        self._is_open = False
        """Whether the handshake is done."""
        self._handshake_bytes = 0
        self._is_drained = True
        """Whether nothing that was read is left to decrypt."""
        self._decrypts_later = False
        self._encrypted: memoryview | None = None
        self._deadline = loop.call_later(handshake_s_max, self._handshake_too_slow, handshake_s_max)

    def close(self) -> None:
        if self.is_closed:
            return
        self._deadline.cancel()
        if self._is_open and self._encrypted is None:
            # Says goodbye, as far as that is possible without waiting: clients log a bare end of the stream as an
            # error.
            with suppress(OSError, ValueError):
                self._tls.unwrap()
            with suppress(OSError):
                self._socket.send(self._to_client.read())
        super().close()

    def _on_readable(self) -> None:
        if self._busy or self._outgoing or self._resting:
            self._check_for_disconnect()
            return
        raw = self._workshop.raw
        try:
            count = self._socket.recv_into(raw)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.close()
            return
        if count == 0:
            self._disconnected()
            return
        self.last_active = self._loop.time()
        if self._is_open:
            self._from_client.write(raw[:count])
            self._decrypt()
        else:
            self._continue_handshake(raw[:count])

    def _disconnected(self) -> None:
        if not self._is_open and self._handshake_bytes:
            self.abort("the peer closed the connection in the middle of the TLS handshake")
        else:
            super()._disconnected()

    def _continue_handshake(self, data: memoryview) -> None:
        if not self._handshake_bytes and data[0] != HANDSHAKE_RECORD:
            self.abort(
                f"the client speaks without encryption, and this listener is {self.protocol.value}; set "
                f"security.protocol={self.protocol.value} at the client, or give it the address of another listener"
            )
            return
        self._handshake_bytes += len(data)
        if self._handshake_bytes > HANDSHAKE_BYTES_MAX:
            self.abort(f"its TLS handshake has more than {HANDSHAKE_BYTES_MAX} bytes")
            return
        self._from_client.write(data)
        # Counts as a request being served. Nothing is read until the step is done.
        self._busy = True
        self._pause_reading()
        self._workshop.run(self._handshake_step, self._handshake_stepped)

    def _handshake_step(self) -> bool:
        """On a worker thread. Returns whether the handshake is done."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def _handshake_stepped(self, step: Future[bool]) -> None:
        if step.cancelled():
            return
        problem = step.exception()
        if self.is_closed:
            return
        self._busy = False
        if problem is not None:
            with suppress(OSError):  # The alert tells the client what is wrong.
                self._socket.send(self._to_client.read())
            self.abort(f"the TLS handshake failed: {_reason(problem)}")
            return
        if step.result():
            self._deadline.cancel()
            try:
                self.tls_principal = self._principal()
            except ValueError as error:
                self.abort(str(error))
                return
            self._is_open = True
            self._is_drained = False
        self._take_encrypted()
        self._flush()
        if not (self.is_closed or self._outgoing):
            self._resume_reading()

    def _principal(self) -> str | None:
        certificate = self._tls.getpeercert(binary_form=True)
        return None if certificate is None else self._identity.principal_of(certificate)

    def _handshake_too_slow(self, seconds: float) -> None:
        self.abort(f"its TLS handshake was not done within {seconds:g} s")

    def _decrypt(self) -> None:
        """Decrypts as much as the buffer of the frames takes, and serves them."""
        self._decrypts_later = False
        if self._is_occupied():
            return
        target, read = self._frames.target(), self._tls.read
        space, filled = len(target), 0
        try:
            while filled < space:
                count = read(space - filled, target[filled:])
                if not count:
                    break  # The end of the stream.
                filled += count  # type: ignore[operator]  # With a buffer, `read` returns a number.
            self._is_drained = False
        except ssl.SSLWantReadError:
            self._is_drained = True
        except ssl.SSLZeroReturnError:
            self._is_drained = False
        except ssl.SSLError as error:
            self.abort(f"it sent what cannot be decrypted: {_reason(error)}")
            return
        if self._to_client.pending:  # The answer to a change of keys.
            self._take_encrypted()
            self._flush()
        if filled:
            self._frames.received(filled)
            self._serve_frames()
        elif self._is_drained:
            self._resume_reading()
        else:
            self._disconnected()

    def _is_occupied(self) -> bool:
        return self.is_closed or self._busy or bool(self._outgoing) or self._resting

    def _resume_reading(self) -> None:
        if self._is_drained:
            super()._resume_reading()
        elif not self._decrypts_later:
            self._decrypts_later = True
            self._loop.call_soon(self._decrypt)

    def _send(self, chunks: list[Chunk]) -> None:
        if not chunks or self.is_closed:
            return
        is_idle = not self._outgoing
        self._outgoing.extend(chunks)
        if is_idle:
            self._flush()

    def _flush(self) -> None:
        """Encrypts and writes what the socket accepts, and the rest when it is writable again."""
        left = FLUSH_BYTES_MAX
        try:
            while self._outgoing and left > 0:
                if self._encrypted is None:
                    self._encrypt()
                data = self._encrypted
                if data is None:
                    continue  # There was nothing in the answer.
                sent = self._socket.send(data)
                left -= sent
                if sent < len(data):  # The socket's buffer is full.
                    self._encrypted = data[sent:]
                    break
                self._encrypted = None
                self._outgoing.popleft()
        except (BlockingIOError, InterruptedError):
            pass
        except ConnectionError:
            self.close()
            return
        except OSError as error:
            self.abort(str(error))
            return
        self._watch_writable()

    def _encrypt(self) -> None:
        """Encrypts the next portion of the answers; `SENT` takes its place in the queue."""
        outgoing, write, left = self._outgoing, self._tls.write, ENCRYPTED_BYTES
        while outgoing and left > 0:
            self._gather()
            chunk = outgoing.popleft()
            if isinstance(chunk, FileSlice):
                file, position, size = chunk
                taken = min(size, left)
                data: Buffer = file.read(position, taken)
                if len(data) < taken:
                    raise shorter_slice(chunk)
                if taken < size:
                    outgoing.appendleft(FileSlice(file, position + taken, size - taken))
            elif len(chunk) > left:
                whole = memoryview(chunk)
                data = whole[:left]
                outgoing.appendleft(whole[left:])
            else:
                data = chunk
            if data:
                write(data)
            left -= len(data)
        self._take_encrypted()

    def _take_encrypted(self) -> None:
        if self._to_client.pending:
            data = self._to_client.read()
            if self._encrypted is not None:
                self._encrypted = memoryview(bytes(self._encrypted) + data)
                return
            self._encrypted = memoryview(data)
            self._outgoing.appendleft(SENT)


def _reason(problem: BaseException) -> str:
    """What is wrong, for people, from the short words of the library."""
    if not isinstance(problem, ssl.SSLError):
        return str(problem) or repr(problem)
    reason = problem.reason or str(problem)
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"the client's certificate is refused: {problem.verify_message}"
    advice = {
        "PEER_DID_NOT_RETURN_A_CERTIFICATE": "the client has no certificate, and ssl.client.auth=required",
        "UNSUPPORTED_PROTOCOL": "the client wants a TLS version that ssl.enabled.protocols leaves out",
        "NO_SHARED_CIPHER": "the client and this listener have no cipher suite in common (ssl.cipher.suites)",
        "TLSV1_ALERT_UNKNOWN_CA": "the client does not trust the authority of this listener's certificate",
        "SSLV3_ALERT_BAD_CERTIFICATE": "the client refuses this listener's certificate",
        "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "the client refuses this listener's certificate",
        "SSLV3_ALERT_CERTIFICATE_EXPIRED": "the client finds this listener's certificate expired",
    }
    return advice.get(reason, reason.lower().replace("_", " "))
