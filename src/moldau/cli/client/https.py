"""What all clients of HTTP services share: whom they trust, how they log in, what to do about a certificate."""

import base64
import http.client
import ssl
from typing import Final
from urllib.parse import SplitResult, unquote

UNTRUSTED_HINT: Final = (
    "The server's certificate comes from an authority that this machine does not know. Trust it for this command: "
    "SSL_CERT_FILE=trust.pem moldau ..."
)


def trusted() -> ssl.SSLContext:
    """Trusts the authorities of the system, or those of the file that SSL_CERT_FILE names."""
    return ssl.create_default_context()


def open_connection(address: SplitResult, timeout_s: float) -> http.client.HTTPConnection:
    host = address.hostname or ""
    if address.scheme == "https":
        return http.client.HTTPSConnection(host, address.port, timeout=timeout_s, context=trusted())
    return http.client.HTTPConnection(host, address.port, timeout=timeout_s)


def login_of(address: SplitResult) -> dict[str, str]:
    """The header for the user and the password that an address has."""
    if address.username is None:
        return {}
    pair = f"{unquote(address.username)}:{unquote(address.password or '')}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def is_untrusted(error: BaseException) -> bool:
    """Whether a connection failed because the server's certificate is not trusted."""
    return isinstance(error, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in str(error)
