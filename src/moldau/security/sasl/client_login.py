"""The client's side of PLAIN and SCRAM, logins with a user and a password, and of OAUTHBEARER (RFC 7628). Pure.

A login is a generator: it yields each message for the server, is sent the server's answer, and ends when the login
is complete. It raises PeerError when the server cannot prove that it knows the password.
"""

import hmac
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Generator
from typing import Final

from moldau.core.errors import ConfigError, PeerError
from moldau.security.credentials.scram_credential import MECHANISMS, ScramMechanism
from moldau.security.sasl.exchange import PLAIN

ClientLogin = Generator[bytes, bytes, None]

SUPPORTED: Final = (PLAIN, *MECHANISMS)
REFUSED: Final = b"\x01"
"""The answer to a text that says why a token is refused: the login fails."""
ITERATIONS_LIMIT: Final = 10_000_000
"""A server that asks for more is an attacker who wants this client to compute for minutes."""
ITERATIONS_MIN: Final = 4096
"""A server that asks for fewer is an attacker who wants to guess the password from the proof."""
_CHALLENGE: Final = re.compile(r"(?:m=[^,]+,)?r=([^,]+),s=([^,]+),i=([0-9]{1,9})(?:,.*)?")
_FINAL: Final = re.compile(r"v=([^,]+)(?:,.*)?")


def client_login(mechanism: str, user: str, password: str) -> ClientLogin:
    """ConfigError for a mechanism without passwords."""
    if mechanism == PLAIN:
        return plain_login(user, password)
    if mechanism not in MECHANISMS:
        raise ConfigError(
            f"{mechanism} is not a login with a user and a password; those are {', '.join(SUPPORTED)}"
        )
    return scram_login(MECHANISMS[mechanism], user, password, secrets.token_urlsafe(24))


def plain_login(user: str, password: str) -> ClientLogin:
    yield f"\0{user}\0{password}".encode()


def scram_login(
    mechanism: ScramMechanism, user: str, password: str, nonce: str, *, by_token: bool = False
) -> ClientLogin:
    """`by_token`: user and password are the ID and the HMAC of a delegation token."""
    name = user.replace("=", "=3D").replace(",", "=2C")
    bare = f"n={name},r={nonce}{',tokenauth=true' if by_token else ''}"
    challenge = _text((yield f"n,,{bare}".encode()))
    match = _CHALLENGE.fullmatch(challenge)
    if match is None:
        raise PeerError("the server's SCRAM challenge is malformed")
    whole_nonce, iterations = match[1], int(match[3])
    if not whole_nonce.startswith(nonce) or whole_nonce == nonce:
        raise PeerError("the server's SCRAM challenge answers another login")
    if not ITERATIONS_MIN <= iterations <= ITERATIONS_LIMIT:
        raise PeerError(
            f"the server's SCRAM challenge asks for {iterations} iterations; "
            f"between {ITERATIONS_MIN} and {ITERATIONS_LIMIT} are accepted"
        )
    salted = mechanism.salted(password, _decoded(match[2]), iterations)
    without_proof = f"c=biws,r={whole_nonce}"
    signed = f"{bare},{challenge},{without_proof}".encode()
    client_key = mechanism.signed(salted, b"Client Key")
    signature = mechanism.signed(mechanism.hashed(client_key), signed)
    proof = bytes(left ^ right for left, right in zip(client_key, signature, strict=True))
    final = _text((yield f"{without_proof},p={b64encode(proof).decode()}".encode()))
    expected = mechanism.signed(mechanism.signed(salted, b"Server Key"), signed)
    match = _FINAL.fullmatch(final)
    if match is None or not hmac.compare_digest(_decoded(match[1]), expected):
        raise PeerError("the server could not prove that it knows the password")


def token_login(token: Callable[[], str]) -> ClientLogin:
    """`token` may block. PeerError if there is none, or the server refuses it."""
    answer = yield f"n,,\x01auth=Bearer {token()}\x01\x01".encode()
    if answer:
        yield REFUSED
        raise PeerError(f"the server refuses the token: {answer[:200].decode(errors='replace')}")


def _text(message: bytes) -> str:
    try:
        return bytes(message).decode()
    except UnicodeDecodeError:
        raise PeerError("the server's SCRAM message is not UTF-8") from None


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        raise PeerError("the server's SCRAM message has malformed base64") from None
