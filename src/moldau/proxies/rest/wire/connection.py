"""A connection to one broker, with TLS and a login by the properties of Kafka's client library. Blocks."""

import itertools
import socket
import ssl
import struct
from collections.abc import Mapping
from contextlib import closing
from typing import Final, TypeVar

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ConfigError, PeerError
from moldau.proxies.rest.failures import (
    AUTHENTICATION,
    KAFKA_ERROR,
    KAFKA_RETRIABLE,
    RestFailure,
    not_found,
)
from moldau.proxies.rest.wire.primitives import NO_TAGS, Reader
from moldau.proxies.rest.wire.questions import Question
from moldau.security.sasl.client_login import SUPPORTED, client_login
from moldau.security.tls.contexts import load_key
from moldau.security.tls.stores import key_from_file, key_from_text

T = TypeVar("T")

ANSWER_BYTES_MAX: Final = 64 << 20
CLIENT_ID: Final = b"moldau-rest"
API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE = 18, 17, 36


class Wire:
    """Asks brokers what the client library cannot. A connection for each question: they are rare."""

    def __init__(self, properties: Mapping[str, str], timeout_s: float) -> None:
        self._properties = properties
        self._timeout_s = timeout_s
        protocol = properties.get("security.protocol", "plaintext").lower()
        self._uses_tls = protocol.endswith("ssl")
        self._logs_in = protocol.startswith("sasl")

    def ask(self, host: str, port: int, question: Question[T]) -> T:
        """Raises RestFailure, and KafkaRefusal if the broker answers with an error."""
        mechanism = self._mechanism() if self._logs_in else None
        try:
            with closing(self._connected(host, port)) as connection:
                broker = _Broker(connection)
                if mechanism is not None:
                    self._log_in(broker, mechanism)
                try:
                    return question.read(broker.ask(question.api_key, question.version, question.body))
                except EOFError:
                    raise RestFailure(
                        KAFKA_ERROR,
                        f"Kafka error: broker {host}:{port} closes the connection on {question.name} version "
                        f"{question.version}; Kafka since 2.8 knows it.",
                    ) from None
        except (OSError, EOFError) as error:
            raise self._unreachable(host, port, error) from None
        except (PeerError, UnicodeDecodeError, struct.error) as error:
            raise RestFailure(
                KAFKA_ERROR, f"Kafka error: {host}:{port} does not answer like a Kafka broker: {error}."
            ) from None

    def reach(self, bootstrap: str) -> None:
        """Returns if one of these addresses answers like a broker, which needs no login. Raises RestFailure."""
        failure: RestFailure | None = None
        for address in bootstrap.split(","):
            host, _, port = address.strip().rpartition(":")
            try:
                with closing(self._connected(host.strip("[]"), int(port))) as connection:
                    _Broker(connection).ask(API_VERSIONS, 0, b"", flexible=False)
                return
            except (OSError, EOFError, ValueError, PeerError, struct.error) as error:
                failure = self._unreachable(host, port, error)
        raise failure or RestFailure(KAFKA_ERROR, "bootstrap.servers is empty.")

    def _unreachable(self, host: str, port: int | str, error: Exception) -> RestFailure:
        words = str(error) or type(error).__name__
        return RestFailure(
            KAFKA_RETRIABLE,
            f"Kafka error: no answer from broker {host}:{port} ({words}). Check that it runs, and that "
            "client.security.protocol is that of its listener.",
        )

    def _connected(self, host: str, port: int) -> socket.socket:
        connection = socket.create_connection((host, port), self._timeout_s)
        if not self._uses_tls:
            return connection
        try:
            return self._tls().wrap_socket(connection, server_hostname=host)
        except BaseException:
            connection.close()
            raise

    def _tls(self) -> ssl.SSLContext:
        get = self._properties.get
        try:
            trusted = get("ssl.ca.pem")
            context = ssl.create_default_context(cafile=get("ssl.ca.location"), cadata=trusted)
            if certificate := get("ssl.certificate.location"):
                context.load_cert_chain(certificate, get("ssl.key.location"), get("ssl.key.password"))
            elif chain := get("ssl.certificate.pem"):
                load_key(context, key_from_text(chain, get("ssl.key.pem"), get("ssl.key.password")))
            elif store := get("ssl.keystore.location"):
                load_key(context, key_from_file(store, get("ssl.keystore.password"), None))
        except (ConfigError, ssl.SSLError) as error:
            raise RestFailure(KAFKA_ERROR, f"Kafka error: the client.ssl settings: {error}.") from None
        if get("ssl.endpoint.identification.algorithm", "https").lower() == "none":
            context.check_hostname = False
        if get("enable.ssl.certificate.verification", "true").lower() == "false":
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _mechanism(self) -> str:
        get = self._properties.get
        mechanism = get("sasl.mechanism") or get("sasl.mechanisms", "GSSAPI")
        if mechanism not in SUPPORTED:
            raise not_found(
                f"this proxy asks for reassignments and for settings of all brokers with a login by password only, not "
                f"with client.sasl.mechanism={mechanism}. Use `moldau partitions` or `moldau configs`."
            )
        return mechanism

    def _log_in(self, broker: "_Broker", mechanism: str) -> None:
        name, password = (self._properties.get(f"sasl.{each}", "") for each in ("username", "password"))
        handshake = broker.ask(SASL_HANDSHAKE, 1, _text(mechanism), flexible=False)
        if handshake.int16() != ErrorCode.NONE:
            raise RestFailure(AUTHENTICATION, f"Unauthorized: the broker does not support {mechanism}.")
        login = client_login(mechanism, name, password)
        message = next(login)
        try:
            while True:
                answer = broker.ask(
                    SASL_AUTHENTICATE, 0, struct.pack(">i", len(message)) + message, flexible=False
                )
                code, words = answer.int16(), answer.bytes(max(answer.int16(), 0)).decode()
                if code != ErrorCode.NONE:
                    raise RestFailure(
                        AUTHENTICATION, f"Unauthorized: {words or 'the cluster refuses the login'}."
                    )
                message = login.send(answer.bytes(max(answer.int32(), 0)))
        except StopIteration:
            return


class _Broker:
    """Requests and answers on one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._serials = itertools.count(1)

    def ask(self, api_key: int, version: int, body: bytes, *, flexible: bool = True) -> Reader:
        """Raises EOFError if the broker closes the connection instead of answering."""
        serial = next(self._serials)
        tags = NO_TAGS if flexible else b""
        head = struct.pack(">hhih", api_key, version, serial, len(CLIENT_ID)) + CLIENT_ID + tags
        self._connection.sendall(struct.pack(">i", len(head) + len(body)) + head + body)
        (size,) = struct.unpack(">i", self._received(4))
        if not 0 < size <= ANSWER_BYTES_MAX:
            raise PeerError(f"an answer of {size} bytes")
        answer = Reader(self._received(size))
        if answer.int32() != serial:
            raise PeerError("an answer to another request")
        if flexible:
            answer.skip_tags()
        return answer

    def _received(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            piece = self._connection.recv(min(size - len(received), 1 << 16))
            if not piece:
                raise EOFError("the broker closed the connection")
            received += piece
        return bytes(received)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data
