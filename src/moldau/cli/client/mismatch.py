"""Whether the settings of this command fit a broker's listener: TLS, certificates, logins.

Found out with connections of our own, because client libraries try again until their timeout and say little. Nothing
is sent but questions for the supported API versions and login mechanisms.
"""

import contextlib
import socket
import ssl
import struct
from collections.abc import Sequence
from typing import Final

import click

from moldau.cli.client.wire_security import Security
from moldau.cli.failures import Failure
from moldau.core.error_codes import ErrorCode
from moldau.protocol.codec import decode, encode
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from moldau.protocol.messages.cluster.api_versions import ApiVersionsRequest
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from moldau.protocol.spec import Request

LOOK_S_MAX: Final = 3.0
ANSWER_BYTES_MAX: Final = 1 << 20
CORRELATION_ID: Final = 1
WHERE: Final = "in the file given with --command-config or with -X"
_NO_TLS: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "EOF", "reset", "HTTP_REQUEST")
_CERTIFICATE_WANTED: Final = ("CERTIFICATE_REQUIRED", "HANDSHAKE_FAILURE")
_CERTIFICATE_REFUSED: Final = (
    "ALERT_UNKNOWN_CA",
    "ALERT_BAD_CERTIFICATE",
    "ALERT_CERTIFICATE_UNKNOWN",
    "ALERT_CERTIFICATE_EXPIRED",
    "ALERT_CERTIFICATE_REVOKED",
    "ALERT_UNSUPPORTED_CERTIFICATE",
)
_VERIFICATION: Final = (
    (
        ("Hostname mismatch", "IP address mismatch"),
        "Connect by a name that the certificate has, or have one issued with this name.",
    ),
    (("has expired",), "It has to be renewed at the broker: `moldau certs renew NAME`."),
    (("not yet valid",), "Compare the clocks of both machines."),
    (("",), "Trust the authority of the broker's certificate: set ssl.ca.location to a file with it."),
)
Place = tuple[str, int]


def mismatch(address: Place, security: Security, timeout_s: float) -> Failure | None:
    """What does not fit at an address, as "HOST:PORT ..."; None if all does, or if it cannot be told soon."""
    look_s = min(timeout_s, LOOK_S_MAX)
    try:
        mechanisms = _mechanisms(address, security, look_s)
    except (TimeoutError, click.UsageError):
        return None
    except ssl.SSLCertVerificationError as error:
        said = error.verify_message.rstrip(".")
        hint = next(hint for signs, hint in _VERIFICATION if any(sign in said for sign in signs))
        return Failure(f"the certificate of {_at(address)} is not accepted: {said}.", hint)
    except (OSError, struct.error, ValueError) as error:
        return _of_tls(address, security, f"{getattr(error, 'reason', None) or ''} {error}", look_s)
    return _of_logins(address, security, mechanisms)


def _of_logins(address: Place, security: Security, mechanisms: Sequence[str] | None) -> Failure | None:
    """None for mechanisms: they cannot be told."""
    if mechanisms is None:
        return None
    offered = ", ".join(sorted(mechanisms))
    protocol = "ssl" if security.uses_tls else "plaintext"
    if mechanisms and not security.uses_logins:
        return Failure(
            f"{_at(address)} asks for a login, and security.protocol={security.protocol} has none.",
            f"Set security.protocol=sasl_{protocol}, sasl.mechanism ({offered}), sasl.username and sasl.password, "
            f"{WHERE}.",
        )
    if not mechanisms and security.uses_logins:
        return Failure(
            f"{_at(address)} has no logins, and security.protocol={security.protocol} asks for one.",
            f"Set security.protocol={protocol}, or name the address of a listener with logins.",
        )
    if security.uses_logins and security.mechanism_text not in mechanisms:
        return Failure(
            f"{_at(address)} does not support sasl.mechanism={security.mechanism_text}.",
            f"It supports {offered}.",
        )
    return None


def _of_tls(address: Place, security: Security, said: str, look_s: float) -> Failure | None:
    at = _at(address)
    if not security.uses_tls:
        if not _speaks_tls(address, look_s):
            return None
        return Failure(
            f"{at} speaks TLS, and security.protocol={security.protocol} does not.",
            f"Set security.protocol=ssl, or sasl_ssl with a login, {WHERE}, and ssl.ca.location to a file with the "
            "authority of its certificate.",
        )
    if any(sign in said for sign in _NO_TLS) and _answers_without_tls(address, look_s):
        return Failure(
            f"{at} does not speak TLS, and security.protocol={security.protocol} does.",
            "Set security.protocol=plaintext, or sasl_plaintext with a login; or name the address of a listener that "
            "speaks TLS.",
        )
    if any(sign in said for sign in _CERTIFICATE_REFUSED):
        return Failure(
            f"{at} refuses the certificate of this command: {said.split()[0]}.",
            "Set ssl.certificate.location and ssl.key.location to one that the broker trusts and that is valid.",
        )
    if any(sign in said for sign in _CERTIFICATE_WANTED):
        return Failure(
            f"{at} asks for a certificate, and this command has none that it takes.",
            "Set ssl.certificate.location and ssl.key.location, or ssl.keystore.location.",
        )
    return None


def _at(address: Place) -> str:
    return f"{address[0]}:{address[1]}"


def _mechanisms(address: Place, security: Security | None, look_s: float) -> Sequence[str] | None:
    """What a listener offers for logins; nothing if it has none; None if it does not say. Over TLS as `security` says.
    Raises OSError, or ValueError for an answer that is none."""
    connection = socket.create_connection(address, look_s)
    try:
        if security is not None:
            connection = security.wrap(connection, address[0])
        _exchange(connection, ApiVersionsRequest(), 0)
        try:
            frame = _exchange(connection, SaslHandshakeRequest(mechanism="PLAIN"), 1)
            _, position = decode_response_header(SaslHandshakeRequest.API_KEY, 1, frame)
            answer, _ = decode(SaslHandshakeResponse, 1, frame, position)
        except (OSError, ValueError, struct.error):
            return None
        known = (ErrorCode.NONE, ErrorCode.UNSUPPORTED_SASL_MECHANISM, ErrorCode.ILLEGAL_SASL_STATE)
        return list(answer.mechanisms) if answer.error_code in known else None
    finally:
        connection.close()


def _answers_without_tls(address: Place, look_s: float) -> bool:
    try:
        _mechanisms(address, None, look_s)
    except (OSError, struct.error, ValueError):
        return False
    return True


def _exchange(connection: socket.socket, request: Request, version: int) -> bytes:
    header = encode_request_header(RequestHeader(request.API_KEY, version, CORRELATION_ID, "moldau-cli"))
    body = encode(request, version)
    connection.sendall(struct.pack(">i", len(header) + len(body)) + header + body)
    (size,) = struct.unpack(">i", _received(connection, 4))
    if not 4 <= size <= ANSWER_BYTES_MAX:
        raise ValueError(f"an answer of {size} bytes")
    frame = _received(connection, size)
    if struct.unpack(">i", frame[:4])[0] != CORRELATION_ID:
        raise ValueError("an answer to another request")
    return frame


def _received(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        more = connection.recv(size - len(received))
        if not more:
            raise ConnectionResetError("reset")
        received += more
    return received


def _speaks_tls(address: Place, look_s: float) -> bool:
    """Whether there is a handshake, whatever the certificate: a look, over which nothing is sent."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with contextlib.suppress(OSError), socket.create_connection(address, look_s) as plain:
        try:
            with context.wrap_socket(plain, server_hostname=address[0]):
                return True
        except ssl.SSLError as error:
            return "ALERT" in (error.reason or "")
    return False
