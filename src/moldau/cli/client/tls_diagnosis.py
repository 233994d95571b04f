"""Why TLS to a broker fails: found out with connections of our own, because client libraries try again until their
timeout and say little.

Nothing is sent but a question for the supported API versions.
"""

import contextlib
import socket
import ssl
import struct
from typing import Final

import click

from moldau.cli.client.wire_security import Security
from moldau.cli.failures import Failure
from moldau.protocol.codec import encode
from moldau.protocol.headers import RequestHeader, encode_request_header
from moldau.protocol.messages.cluster.api_versions import ApiVersionsRequest

LOOK_S_MAX: Final = 3.0
CORRELATION_ID: Final = 1
TLS_HINT: Final = (
    "Set security.protocol=ssl, or sasl_ssl with a login, in the file given with --command-config or with -X, and "
    "ssl.ca.location to a file with the authority of its certificate."
)
PLAIN_HINT: Final = (
    "Set security.protocol=plaintext, or sasl_plaintext with a login; or name the address of a listener that speaks "
    "TLS."
)
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


def tls_failure(address: tuple[str, int], security: Security, timeout_s: float) -> Failure | None:
    """What is wrong with TLS at an address, as "HOST:PORT ..."; None if nothing is, or if it cannot be told soon."""
    at = f"{address[0]}:{address[1]}"
    look_s = min(timeout_s, LOOK_S_MAX)
    try:
        return _failure(at, address, security, look_s)
    except TimeoutError:
        return None


def _failure(at: str, address: tuple[str, int], security: Security, look_s: float) -> Failure | None:
    if not security.uses_tls:
        if _answers(address, look_s) or not _speaks_tls(address, look_s):
            return None
        return Failure(f"{at} speaks TLS, and security.protocol={security.protocol} does not.", TLS_HINT)
    try:
        _ask(address, security, look_s)
    except TimeoutError:
        raise
    except ssl.SSLCertVerificationError as error:
        said = error.verify_message.rstrip(".")
        hint = next(hint for signs, hint in _VERIFICATION if any(sign in said for sign in signs))
        return Failure(f"the certificate of {at} is not accepted: {said}.", hint)
    except (OSError, struct.error) as error:
        said = f"{getattr(error, 'reason', None) or ''} {error}"
        if any(sign in said for sign in _NO_TLS) and _answers(address, look_s):
            return Failure(
                f"{at} does not speak TLS, and security.protocol={security.protocol} does.", PLAIN_HINT
            )
        return _of_alert(at, said)
    except click.UsageError:
        return None
    return None


def _of_alert(at: str, said: str) -> Failure | None:
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


def _answers(address: tuple[str, int], look_s: float) -> bool:
    """Without TLS. Raises TimeoutError."""
    try:
        _ask(address, None, look_s)
    except TimeoutError:
        raise
    except (OSError, struct.error):
        return False
    return True


def _ask(address: tuple[str, int], security: Security | None, look_s: float) -> None:
    """Raises OSError, or struct.error for an answer that is none."""
    request = encode_request_header(
        RequestHeader(ApiVersionsRequest.API_KEY, 0, CORRELATION_ID, "moldau-cli")
    )
    request += encode(ApiVersionsRequest(), 0)
    connection = socket.create_connection(address, look_s)
    try:
        if security is not None:
            connection = security.wrap(connection, address[0])
        connection.sendall(struct.pack(">i", len(request)) + request)
        head = b""
        while len(head) < 8:
            more = connection.recv(8 - len(head))
            if not more:
                raise ConnectionResetError("reset")
            head += more
        if struct.unpack(">ii", head)[1] != CORRELATION_ID:
            raise struct.error("another correlation id")
    finally:
        connection.close()


def _speaks_tls(address: tuple[str, int], look_s: float) -> bool:
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
