"""The client's side of SASL DIGEST-MD5 (RFC 2831), which ZooKeeper has for names and passwords. Pure.

Only authentication: what follows is protected by TLS or not at all. MD5 is weak; ZooKeeper knows nothing better but
Kerberos and client certificates.
"""

import hashlib
import hmac
import re
from typing import Final

from moldau.core.errors import PeerError
from moldau.security.sasl.client_login import ClientLogin

HOST: Final = "zk-sasl-md5"
"""In the place of the server's host: ZooKeeper has this name built in, on both sides."""
URI: Final = f"zookeeper/{HOST}"
_DIRECTIVE: Final = re.compile(r'\s*([a-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^",\s]+))\s*(?:,|$)')
_COUNT: Final = "00000001"


def digest_md5_login(user: str, password: str, nonce: str, *, uri: str = URI) -> ClientLogin:
    """`nonce` is this client's: random and used once. `uri` names the service and its host."""
    first = yield b""
    if not first:
        raise PeerError("the server offers no login with a password; give it a JAAS file with the users")
    challenge = _directives(first)
    server_nonce = challenge.get("nonce")
    if server_nonce is None or challenge.get("algorithm", "md5-sess") != "md5-sess":
        raise PeerError("the server's DIGEST-MD5 challenge is malformed")
    if "auth" not in challenge.get("qop", "auth").split(","):
        raise PeerError(
            "the server's DIGEST-MD5 challenge offers no login without encryption of its own; use TLS"
        )
    realm = challenge.get("realm", HOST)
    secret = hashlib.md5(f"{user}:{realm}:{password}".encode()).digest()  # noqa: S324 the mechanism's
    session = _hex(secret + f":{server_nonce}:{nonce}".encode())

    def proof(method: str) -> str:
        action = _hex(f"{method}:{uri}".encode())
        return _hex(f"{session}:{server_nonce}:{_COUNT}:{nonce}:auth:{action}".encode())

    answer = (
        f'charset=utf-8,username="{_quoted(user)}",realm="{_quoted(realm)}",nonce="{_quoted(server_nonce)}",'
        f'nc={_COUNT},cnonce="{nonce}",digest-uri="{uri}",maxbuf=65536,response={proof("AUTHENTICATE")},qop=auth'
    )
    found = _directives((yield answer.encode())).get("rspauth", "")
    if not hmac.compare_digest(found, proof("")):
        raise PeerError("the server did not prove that it knows the password")


def _directives(message: bytes) -> dict[str, str]:
    try:
        text = bytes(message).decode()
    except UnicodeDecodeError:
        raise PeerError("the server's DIGEST-MD5 message is not UTF-8") from None
    found, position = {}, 0
    while position < len(text):
        match = _DIRECTIVE.match(text, position)
        if match is None:
            raise PeerError("the server's DIGEST-MD5 message is malformed")
        quoted = match[2]
        found[match[1]] = match[3] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        position = match.end()
    return found


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _hex(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()  # noqa: S324 the mechanism's
