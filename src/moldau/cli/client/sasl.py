"""The client side of SASL PLAIN and SCRAM. Pure.

A login is a generator: it yields each message for the broker, receives the broker's answer, and returns when done.
"""

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Generator

from moldau.core.errors import PeerError

Login = Generator[bytes, bytes, None]

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_SCRAM_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
# Kafka requires at least 4096. A larger count than this is treated as an attack.
_ITERATIONS_MAX = 10_000_000


def login(mechanism: str, user: str, password: str) -> Login:
    if mechanism == "PLAIN":
        return plain(user, password)
    return scram(_SCRAM_HASHES[mechanism], user, password, secrets.token_urlsafe(24))


def plain(user: str, password: str) -> Login:
    """RFC 4616."""
    yield f"\0{user}\0{password}".encode()


def scram(hash_name: str, user: str, password: str, nonce: str) -> Login:
    """RFC 5802, without channel binding. Raises PeerError if the broker cannot prove that it knows the password."""
    name = user.replace("=", "=3D").replace(",", "=2C")
    first_bare = f"n={name},r={nonce}"
    server_first = (yield b"n,," + first_bare.encode()).decode()
    found = _attributes(server_first)
    try:
        iterations, salt, whole_nonce = int(found["i"]), b64decode(found["s"]), found["r"]
    except (KeyError, ValueError) as error:
        raise PeerError(f"the broker's SCRAM challenge is malformed: {server_first!r}") from error
    if not whole_nonce.startswith(nonce) or not 0 < iterations <= _ITERATIONS_MAX:
        raise PeerError(
            f"the broker's SCRAM challenge has a wrong nonce or iteration count: {server_first!r}"
        )
    salted = hashlib.pbkdf2_hmac(hash_name, password.encode(), salt, iterations)
    final_bare = f"c=biws,r={whole_nonce}"
    signed = ",".join([first_bare, server_first, final_bare]).encode()
    client_key = hmac.digest(salted, b"Client Key", hash_name)
    signature = hmac.digest(hashlib.new(hash_name, client_key).digest(), signed, hash_name)
    proof = bytes(left ^ right for left, right in zip(client_key, signature, strict=True))
    server_final = (yield f"{final_bare},p={b64encode(proof).decode()}".encode()).decode()
    expected = hmac.digest(hmac.digest(salted, b"Server Key", hash_name), signed, hash_name)
    if _attributes(server_final).get("v") != b64encode(expected).decode():
        raise PeerError("the broker could not prove that it knows the password")


def _attributes(message: str) -> dict[str, str]:
    return {part[:1]: part[2:] for part in message.split(",") if part[1:2] == "="}
