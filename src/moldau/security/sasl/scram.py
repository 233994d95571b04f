"""SCRAM on the server (RFC 5802, RFC 7677), without channel binding, which Kafka's clients do not have.

A client that logs in by a delegation token sends the extension `tokenauth=true` and the token's ID as its name
(KIP-48).
"""

import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Final, NamedTuple

from moldau.security.credentials.scram_credential import ITERATIONS_MIN, ScramCredential, ScramMechanism
from moldau.security.sasl.exchange import Login, LoginRefused, shown
from moldau.security.sasl.plain import check_wanted

_NAME: Final = r"(?:[^\x00=,]|=2C|=3D)+"
_VALUE: Final = r"[^\x00,]+"
_NONCE: Final = r"[\x21-\x2b\x2d-\x7e]+"
_BASE64: Final = r"[A-Za-z0-9/+]+={0,2}"
_EXTENSIONS: Final = rf"((?:,[A-Za-z]+={_VALUE})*)"
_CLIENT_FIRST: Final = re.compile(
    rf"(n,(?:a=({_NAME}))?,)((?:m={_VALUE},)?n=({_NAME}),r=({_NONCE}){_EXTENSIONS})"
)
_CLIENT_FINAL: Final = re.compile(rf"(c=({_BASE64}),r=({_NONCE}){_EXTENSIONS}),p=({_BASE64})")
BY_DELEGATION: Final = ",tokenauth=true"


class Known(NamedTuple):
    """What the server knows about a name."""

    credential: ScramCredential
    login: Login
    """Who has logged in when the exchange succeeds."""


FindKnown = Callable[[str, bool], Known | None]
"""Takes a name, and whether it is the ID of a delegation token."""


class ScramExchange:
    problem: str | None = None

    def __init__(self, mechanism: ScramMechanism, find: FindKnown, nonce: str) -> None:
        """`nonce` is random, and used for this exchange alone: it makes recorded messages useless."""
        self._mechanism = mechanism
        self._find = find
        self._nonce = nonce
        self._known: Known | None = None
        self._header = b""
        self._signed_so_far = ""
        self._is_over = False
        self.login: Login | None = None

    def is_slow(self, message: bytes) -> bool:
        return False

    def answer(self, message: bytes) -> bytes:
        if self._is_over:
            raise LoginRefused("a message came after the end of the SCRAM exchange")
        try:
            text = message.decode()
        except UnicodeDecodeError:
            raise LoginRefused("the SCRAM message is not UTF-8") from None
        if self._known is None:
            return self._challenge(text).encode()
        self._is_over = True
        return self._verify(text, self._known).encode()

    def _challenge(self, text: str) -> str:
        match = _CLIENT_FIRST.fullmatch(text)
        if match is None:
            raise LoginRefused("the first SCRAM message has not the form `n,,n=name,r=nonce`")
        header, wanted, bare, name, nonce, extensions = match.groups()
        user = _unescaped(name)
        known = self._find(user, BY_DELEGATION in extensions.lower())
        if known is None:
            raise LoginRefused(f"user {shown(user)} has no credential for {self._mechanism.name}")
        check_wanted(_unescaped(wanted or ""), user)
        if known.credential.iterations < ITERATIONS_MIN:
            raise LoginRefused(
                f"the credential of user {shown(user)} has {known.credential.iterations} iterations, "
                f"fewer than {ITERATIONS_MIN}; set its password again"
            )
        self._known, self._header = known, header.encode()
        self._nonce = nonce + self._nonce
        salt = b64encode(known.credential.salt).decode()
        challenge = f"r={self._nonce},s={salt},i={known.credential.iterations}"
        self._signed_so_far = f"{bare},{challenge}"
        return challenge

    def _verify(self, text: str, known: Known) -> str:
        match = _CLIENT_FINAL.fullmatch(text)
        if match is None:
            raise LoginRefused("the final SCRAM message has not the form `c=...,r=nonce,p=proof`")
        without_proof, header, nonce, _, proof_text = match.groups()
        try:
            is_same_header = b64decode(header) == self._header
            proof = b64decode(proof_text)
        except ValueError:
            raise LoginRefused("the final SCRAM message has malformed base64") from None
        if not is_same_header or not hmac.compare_digest(nonce, self._nonce):
            raise LoginRefused("the final SCRAM message belongs to another exchange")
        signed = f"{self._signed_so_far},{without_proof}".encode()
        credential = known.credential
        signature = self._mechanism.signed(credential.stored_key, signed)
        if len(proof) != len(signature):
            raise LoginRefused("the SCRAM proof has a wrong length")
        client_key = bytes(left ^ right for left, right in zip(proof, signature, strict=True))
        if not hmac.compare_digest(self._mechanism.hashed(client_key), credential.stored_key):
            raise LoginRefused(f"user {shown(known.login.key or known.login.user)} has another password")
        self.login = known.login
        return f"v={b64encode(self._mechanism.signed(credential.server_key, signed)).decode()}"


def _unescaped(name: str) -> str:
    return name.replace("=2C", ",").replace("=3D", "=")
