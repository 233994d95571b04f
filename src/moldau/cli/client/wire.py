"""Kafka requests that the client library cannot send: our own codec over our own sockets.

Owns connections, version negotiation and coordinator lookup. Knows nothing about commands.
"""

import socket
import struct
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import count
from typing import NamedTuple, TypeVar

from confluent_kafka import KafkaError

from moldau.cli.client.addresses import parse, require_listener
from moldau.cli.client.mismatch import mismatch
from moldau.cli.client.wire_security import Security
from moldau.cli.failures import ADVERTISED_HINT, Failure, refused
from moldau.core.error_codes import RETRIABLE, ErrorCode
from moldau.core.errors import PeerError
from moldau.protocol.codec import decode, encode
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from moldau.protocol.messages import API_NAMES
from moldau.protocol.messages.cluster.api_versions import ApiVersionsRequest, ApiVersionsResponse
from moldau.protocol.messages.groups.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from moldau.protocol.messages.security.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from moldau.protocol.messages.topics.metadata import MetadataRequest, MetadataResponse
from moldau.protocol.spec import Request, Response

Answer = TypeVar("Answer", bound=Response)
Result = TypeVar("Result")

ANSWER_BYTES_MAX = 64 * 1024 * 1024
TLS_ALERT = 0x1503
"""The first bytes of an alert."""
RETRY_S = 0.1
_SILENT_HINT = "Is it healthy, and is security.protocol correct? --timeout SECONDS waits longer."
GROUP = 0
TRANSACTION = 1


class _HungUp(PeerError):
    """What a listener does that expects TLS or a login: it hangs up, or sends an alert of TLS."""


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Connection:
    """A connection to one broker. Uses the newest version of each API that both sides support."""

    def __init__(self, address: Address, security: Security, timeout_s: float) -> None:
        self._serial = count()
        self._socket = socket.create_connection(address, timeout_s)
        try:
            self._socket = security.wrap(self._socket, address.host)
            versions = self._exchange(ApiVersionsRequest(), 0, ApiVersionsResponse)
            self._versions = {api.api_key: (api.min_version, api.max_version) for api in versions.api_keys}
            if security.mechanism is not None:
                self._log_in(security, security.mechanism)
        except BaseException:
            self._socket.close()
            raise

    def close(self) -> None:
        self._socket.close()

    def ask(self, request: Request, answer: type[Answer], version_min: int = 0) -> Answer:
        low, high = self._versions.get(request.API_KEY, (0, -1))
        version = min(high, request.VERSIONS.high)
        if version < max(low, request.VERSIONS.low, version_min):
            name = API_NAMES[request.API_KEY]
            raise Failure(
                f"the broker does not support {name}, or no version of it that this command supports.",
                "The broker is too old or too new. Kafka 4 supports it.",
                KafkaError.UNSUPPORTED_VERSION,
            )
        return self._exchange(request, version, answer)

    def ask_privately(self, request: Request, answer: type[Answer]) -> Answer:
        """Uses the oldest version without checking support, because Moldau's own APIs are not advertised."""
        return self._exchange(request, request.VERSIONS.low, answer)

    def _log_in(self, security: Security, mechanism: str) -> None:
        handshake = self.ask(SaslHandshakeRequest(mechanism=mechanism), SaslHandshakeResponse)
        if handshake.error_code:
            offered = ", ".join(handshake.mechanisms)
            raise Failure(
                f"the broker does not support sasl.mechanism={mechanism}.",
                f"It supports {offered}."
                if offered
                else "It has no logins at this address: set security.protocol=plaintext, or ssl.",
                KafkaError._AUTHENTICATION,
            )
        login = security.login()
        message = next(login)
        try:
            while True:
                step = self.ask(SaslAuthenticateRequest(auth_bytes=message), SaslAuthenticateResponse)
                if step.error_code:
                    said = KafkaError(
                        KafkaError._AUTHENTICATION, step.error_message or "Authentication failed"
                    )
                    raise refused(said, "log in")
                message = login.send(bytes(step.auth_bytes))
        except StopIteration:
            return

    def _exchange(self, request: Request, version: int, answer: type[Answer]) -> Answer:
        serial = next(self._serial)
        header = encode_request_header(RequestHeader(request.API_KEY, version, serial, "moldau-cli"))
        body = encode(request, version)
        self._socket.sendall(struct.pack(">i", len(header) + len(body)) + header + body)
        (size,) = struct.unpack(">i", self._receive(4))
        if not 0 < size <= ANSWER_BYTES_MAX:
            kind = _HungUp if size >> 16 == TLS_ALERT else PeerError
            raise kind(f"an answer of {size} bytes")
        frame = self._receive(size)
        correlation_id, position = decode_response_header(request.API_KEY, version, frame)
        if correlation_id != serial:
            raise PeerError(f"an answer to request {correlation_id} instead of {serial}")
        return decode(answer, version, frame, position)[0]

    def _receive(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            chunk = self._socket.recv(size - len(received))
            if not chunk:
                raise _HungUp(f"the connection ended {size - len(received)} bytes before the answer did")
            received += chunk
        return bytes(received)


class Wire:
    """Connections to the brokers of one cluster, opened when needed and kept until the end of the command."""

    def __init__(self, bootstrap_servers: str, security: Security, timeout_s: float) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._security = security
        self._timeout_s = timeout_s
        self._connections: dict[Address, Connection] = {}

    @cached_property
    def brokers(self) -> Mapping[int, Address]:
        listening = require_listener(self._bootstrap_servers)
        answer = self.ask(
            Address(*listening), MetadataRequest(topics=()), MetadataResponse, "find the brokers"
        )
        return {broker.node_id: Address(broker.host, broker.port) for broker in answer.brokers}

    def any_broker(self) -> Address:
        """A broker that accepts connections. The first one may be down and still be in the metadata."""
        first, *others = self.brokers.values()
        for address in (first, *others):
            try:
                self._connection(address)
            except (OSError, PeerError):
                continue
            except Failure:  # The next request to it reports this.
                pass
            return address
        return first

    def ask(
        self, address: Address, request: Request, answer: type[Answer], doing: str, version_min: int = 0
    ) -> Answer:
        try:
            return self._connection(address).ask(request, answer, version_min)
        except Failure as failure:
            raise Failure(f"cannot {doing}: {failure.message}", failure.hint, failure.code) from failure
        except OSError as error:
            self._explain_mismatch(address, doing, error)
            self._forget(address)
            told = address in parse(self._bootstrap_servers)
            hint = _SILENT_HINT if told else ADVERTISED_HINT
            raise Failure(f"cannot {doing}: no answer from {address} ({error}).", hint) from error
        except PeerError as error:
            self._explain_mismatch(address, doing, error)
            self._forget(address)
            raise Failure(
                f"cannot {doing}: {address} does not answer like a Kafka broker: {error}.",
                "Is this a Kafka broker, and is security.protocol correct?",
            ) from error

    def _explain_mismatch(self, address: Address, doing: str, error: Exception) -> None:
        """Raises a Failure if TLS or logins do not fit the listener."""
        if isinstance(error, TimeoutError) or not isinstance(error, OSError | _HungUp):
            return
        found = mismatch(address, self._security, self._timeout_s)
        if found is not None:
            raise Failure(f"cannot {doing}: {found.message}", found.hint) from error

    def ask_privately(self, address: Address, request: Request, answer: type[Answer]) -> Answer | None:
        """None if the broker does not know the API. Kafka then closes the connection."""
        try:
            connection = self._connection(address)
        except OSError as error:
            raise Failure(f"no answer from {address} ({error}).") from error
        try:
            return connection.ask_privately(request, answer)
        except (OSError, PeerError):
            self._forget(address)
            return None

    def _connection(self, address: Address) -> Connection:
        connection = self._connections.get(address)
        if connection is None:
            connection = Connection(address, self._security, self._timeout_s)
            self._connections[address] = connection
        return connection

    def close(self) -> None:
        for address in list(self._connections):
            self._forget(address)

    def _forget(self, address: Address) -> None:
        connection = self._connections.pop(address, None)
        if connection is not None:
            connection.close()

    def coordinator(self, key: str, kind: int, doing: str) -> Address:
        """Uses the request of KIP-699, available since Kafka 3.0."""

        def find() -> tuple[int, Address]:
            request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
            answer = self.ask(self.any_broker(), request, FindCoordinatorResponse, doing, version_min=4)
            [found] = answer.coordinators
            return found.error_code, Address(found.host, found.port)

        return self.settled(find, doing)

    def settled(self, attempt: Callable[[], tuple[int, Result]], doing: str) -> Result:
        """Retries while the error is retriable, up to the timeout. Raises other errors."""
        deadline = time.monotonic() + self._timeout_s
        while True:
            code, result = attempt()
            if code == ErrorCode.NONE:
                return result
            if code not in RETRIABLE or time.monotonic() > deadline:
                raise refused(KafkaError(code), doing)
            time.sleep(RETRY_S)
