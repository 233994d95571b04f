"""Java's names of cipher suites, which `ssl.cipher.suites` has, in the words of OpenSSL."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from moldau.core.errors import ConfigError

TLS_1_3: Final = frozenset(
    {
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
        "TLS_AES_128_CCM_SHA256",
        "TLS_AES_128_CCM_8_SHA256",
    }
)
_NAME: Final = re.compile(
    r"(?:TLS|SSL)_(?P<exchange>ECDHE_ECDSA|ECDHE_RSA|DHE_RSA|DHE_DSS|RSA)_WITH_"
    r"(?P<cipher>AES_128|AES_256|CHACHA20_POLY1305|CAMELLIA_128|CAMELLIA_256)_?(?P<mode>GCM|CBC|CCM|CCM_8)?_?"
    r"(?P<hash>SHA|SHA256|SHA384)?"
)


class CipherSuites(NamedTuple):
    older: str
    """OpenSSL's list for TLS up to 1.2; empty for none."""
    has_1_3: bool


def cipher_suites(names: Iterable[str]) -> CipherSuites:
    """ConfigError for a name that is unknown."""
    older, has_1_3 = [], False
    for name in names:
        if name in TLS_1_3:
            has_1_3 = True
        else:
            older.append(_openssl_name(name))
    return CipherSuites(":".join(older), has_1_3)


def _openssl_name(name: str) -> str:
    match = _NAME.fullmatch(name)
    if match is None:
        raise ConfigError(
            f"ssl.cipher.suites: {name} is not the name of a cipher suite that this broker has, for example "
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
        )
    exchange = "" if match["exchange"] == "RSA" else match["exchange"].replace("_", "-") + "-"
    cipher, mode = match["cipher"], match["mode"] or ""
    if cipher == "CHACHA20_POLY1305":
        return f"{exchange}CHACHA20-POLY1305"
    parts = [cipher.replace("_", "")]
    if mode.startswith(("GCM", "CCM")):
        parts.append(mode.replace("_8", "8"))
    if match["hash"] and not mode.startswith("CCM"):
        parts.append(match["hash"])
    return exchange + "-".join(parts)
