"""What all clients of HTTP services share: whom they trust, how they log in, what to do about TLS that fails."""

import base64
import http
import http.client
import netrc
import os
import ssl
from typing import Final, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

import click

NETRC_VARIABLE: Final = "NETRC"
UNTRUSTED_HINT: Final = (
    "The server's certificate comes from an authority that this machine does not know. Trust it for this command: "
    "SSL_CERT_FILE=trust.pem moldau ..."
)
_HINTS: Final = (
    (
        ("Hostname mismatch", "IP address mismatch"),
        "The server's certificate is not for this name. Connect by a name that it has, or have one issued with it: "
        "`moldau certs issue NAME --host HOST`.",
    ),
    (
        ("certificate has expired",),
        "The server's certificate has expired. Renew it: `moldau certs renew NAME`.",
    ),
    (
        ("certificate is not yet valid",),
        "The server's certificate is not valid yet. Compare the clocks of both machines.",
    ),
    (("CERTIFICATE_VERIFY_FAILED", "certificate verify failed"), UNTRUSTED_HINT),
    (
        ("CERTIFICATE_REQUIRED", "certificate required"),
        "The server asks for a certificate of yours, and this command cannot show one. Reach it where logins are "
        "enough, or through a program that can (curl --cert).",
    ),
    (
        ("WRONG_VERSION_NUMBER", "wrong version number", "RECORD_LAYER_FAILURE", "record layer failure"),
        "The server does not speak TLS here. Try http:// instead of https://.",
    ),
)
"""By what OpenSSL says; the first that fits counts."""
_LOGIN_HINT: Final = (
    "Log in: put USER:PASSWORD@ before the host of the address, or name a file with logins, as curl has it: "
    "NETRC=FILE moldau ..."
)
_CUT_OFF: Final = (
    "reset by peer",
    "Broken pipe",
    "EOF occurred",
    "without response",
    "without sending a response",
    "\\x15\\x03",
)
"""The last one is how an alert of TLS begins."""


class Credentials(NamedTuple):
    user: str
    password: str


def trusted(authorities: str | None = None) -> ssl.SSLContext:
    """Trusts those of the file; without one the authorities of the system, or those of the file that SSL_CERT_FILE
    names."""
    return ssl.create_default_context(cafile=authorities)


def open_connection(address: SplitResult, timeout_s: float) -> http.client.HTTPConnection:
    host = address.hostname or ""
    if address.scheme == "https":
        return http.client.HTTPSConnection(host, address.port, timeout=timeout_s, context=trusted())
    return http.client.HTTPConnection(host, address.port, timeout=timeout_s)


def credentials_of(address: SplitResult) -> Credentials | None:
    """The user and the password that an address has, or those for its host in the file that NETRC names."""
    if address.username is not None:
        return Credentials(unquote(address.username), unquote(address.password or ""))
    path = os.environ.get(NETRC_VARIABLE)
    if not path:
        return None
    try:
        found = netrc.netrc(path).authenticators(address.hostname or "")
    except (OSError, UnicodeDecodeError, netrc.NetrcParseError) as error:
        raise click.UsageError(f"{NETRC_VARIABLE}={path} cannot be used: {error}.") from None
    return None if found is None else Credentials(found[0], found[2])


def login_of(address: SplitResult) -> dict[str, str]:
    """The header for what `credentials_of` finds."""
    found = credentials_of(address)
    if found is None:
        return {}
    return {"Authorization": f"Basic {base64.b64encode(':'.join(found).encode()).decode()}"}


def login_hint(status: int) -> str | None:
    """What to do about an answer with this status; None if it is not about logins."""
    return _LOGIN_HINT if status == http.HTTPStatus.UNAUTHORIZED else None


def tls_hint(error: BaseException, url: str) -> str | None:
    """What to do if the connection to `url` failed because of TLS; None if that is not the reason."""
    said = f"{error} {error.__cause__ or ''} {error.__context__ or ''}"
    for signs, hint in _HINTS:
        if any(sign in said for sign in signs):
            return hint
    if not any(sign in said for sign in _CUT_OFF):
        return None
    if urlsplit(url).scheme == "http":
        why = "If it speaks TLS, use https:// instead of http://"
    else:
        why = "It may ask for a certificate of yours, which this command cannot show"
    return f"The server ended the connection without an answer. {why}; if it was stopped, start it again."
