"""A client's session in which requests meet the faults that a test has armed."""

import struct
from typing import Final

from moldau.broker.broker import Broker
from moldau.broker.request.client_session import ClientConnection, ClientSession, RequestContext, frame_answer
from moldau.core.chunks import Chunk
from moldau.core.errors import PeerError
from moldau.protocol import codec
from moldau.protocol.headers import decode_request_header
from moldau.protocol.messages.log.produce import ProduceRequest
from moldau.testing.failed_answers import failed_answer
from moldau.testing.faults import Fault, Faults

_REQUEST_START: Final = struct.Struct(">hhi")


class FaultySession(ClientSession):
    __slots__ = ("_faults",)

    def __init__(self, broker: Broker, connection: ClientConnection, faults: Faults) -> None:
        super().__init__(broker, connection)
        self._faults = faults

    def on_frame(self, frame: memoryview) -> list[Chunk] | None:
        api_key = int.from_bytes(frame[:2], signed=True)
        fault = self._faults.next_of(api_key)
        if fault is None:
            return super().on_frame(frame)
        if fault.kind == "fail":
            return self._fail(bytes(frame), fault)
        self._faults.met(api_key, fault)
        if fault.kind == "delay":
            self._serve_later(bytes(frame), fault.delay_ms)
            return None
        if fault.kind == "drop answer":
            super().on_frame(frame)
        self._close(fault)
        return None

    def _serve_later(self, frame: bytes, delay_ms: int) -> None:
        timer = self.broker.scheduler.call_later(delay_ms, lambda: self._serve(frame))
        self.on_disconnect = timer.cancel

    def _serve(self, frame: bytes) -> None:
        self.on_disconnect = None
        try:
            answer = super().on_frame(memoryview(frame))
        except PeerError as error:
            self.connection.abort(str(error))
            return
        except Exception as problem:
            self.connection.abort(f"a delayed request failed: {problem!r}")
            raise
        if answer is not None:
            self.connection.reply(answer)

    def _fail(self, frame: bytes, fault: Fault) -> list[Chunk] | None:
        api_key, version, correlation_id = _REQUEST_START.unpack_from(frame)
        spec = self.broker.table.find(api_key)
        if spec is None or not spec.min_version <= version <= spec.max_version:
            return super().on_frame(memoryview(frame))
        _, position = decode_request_header(frame, 0)
        request, _ = codec.decode(spec.request, version, frame, position)
        answer = failed_answer(RequestContext(self.broker, self.client, version), request, fault.error_code)
        if answer is None:
            return super().on_frame(memoryview(frame))
        self._faults.met(api_key, fault)
        if isinstance(request, ProduceRequest) and request.acks == 0:
            # A client that wants no answer can learn of a failure in no other way; Kafka does the same.
            self._close(fault)
            return None
        body = codec.encode(answer, version)
        return frame_answer(correlation_id, body, has_tags=version >= spec.flexible_from)

    def _close(self, fault: Fault) -> None:
        self.connection.abort(f"a test armed this fault: {fault.kind} a {fault.api} request")
