"""Reads and writes Java key stores (JKS): private keys with their chains, and trusted certificates.

The format is the one of `sun.security.provider.JavaKeyStore`: big-endian, strings in modified UTF-8, keys under the
proprietary cipher of Sun, and at the end a SHA-1 over the password and everything before.
"""

import hashlib
import hmac
import secrets
import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

MAGIC: Final = 0xFEEDFEED
_HEADER: Final = struct.Struct(">IiI")
_KEY_ENTRY: Final = 1
_CERTIFICATE_ENTRY: Final = 2
_WHITENER: Final = b"Mighty Aphrodite"
_DIGEST_SIZE: Final = 20
_ENTRIES_MAX: Final = 100_000
# SEQUENCE { OID 1.3.6.1.4.1.42.2.17.1.1, NULL }: the cipher of Sun's key protector.
_ALGORITHM: Final = bytes.fromhex("300e060a2b060104012a021101010500")


class JksError(ValueError):
    """The store cannot be read, or the password is wrong."""


class JksKey(NamedTuple):
    alias: str
    key: bytes
    """PKCS #8, DER."""
    chain: tuple[bytes, ...]
    """Certificates in DER, the key's own first."""


class JksStore(NamedTuple):
    keys: tuple[JksKey, ...]
    certificates: tuple[bytes, ...]


def is_jks(data: bytes) -> bool:
    return data[:4] == struct.pack(">I", MAGIC)


def read_jks(data: bytes, password: str | None, key_password: str | None) -> JksStore:
    """Without a `password` the store's integrity is not checked, as in Java; a `key_password` of None is the store's.
    JksError if anything is wrong."""
    if not is_jks(data):
        raise JksError("it is not a JKS store")
    if password is not None:
        _check_integrity(data, password)
    reader = _Reader(data[:-_DIGEST_SIZE])
    _, version, count = reader.unpack(_HEADER)
    if version not in (1, 2) or count > _ENTRIES_MAX:
        raise JksError(f"its version {version} or its {count} entries are not those of a JKS store")
    keys, certificates = [], []
    for _ in range(count):
        tag, alias = reader.number(), reader.text()
        reader.skip(8)  # the date of creation
        if tag == _KEY_ENTRY:
            protected = reader.sized()
            chain = tuple(reader.certificate(version) for _ in range(reader.number()))
            secret = password if key_password is None else key_password
            if secret is None:
                raise JksError(f"the key {alias} needs a password")
            keys.append(JksKey(alias, _unprotect(protected, secret, alias), chain))
        elif tag == _CERTIFICATE_ENTRY:
            certificates.append(reader.certificate(version))
        else:
            raise JksError(f"the entry {alias} is of kind {tag}, which JKS does not have")
    return JksStore(tuple(keys), tuple(certificates))


def write_jks(
    password: str, *, keys: Sequence[JksKey] = (), certificates: Sequence[bytes] = (), now_ms: int
) -> bytes:
    out = bytearray(_HEADER.pack(MAGIC, 2, len(keys) + len(certificates)))
    for key in keys:
        out += struct.pack(">i", _KEY_ENTRY) + _text(key.alias) + struct.pack(">q", now_ms)
        out += _sized(_protect(key.key, password)) + struct.pack(">i", len(key.chain))
        for certificate in key.chain:
            out += _text("X.509") + _sized(certificate)
    for number, certificate in enumerate(certificates):
        out += struct.pack(">i", _CERTIFICATE_ENTRY) + _text(f"ca-{number}") + struct.pack(">q", now_ms)
        out += _text("X.509") + _sized(certificate)
    return bytes(out) + _digest(bytes(out), password)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def unpack(self, form: struct.Struct) -> tuple[int, ...]:
        return form.unpack(self._take(form.size))

    def number(self) -> int:
        return int.from_bytes(self._take(4), "big")

    def text(self) -> str:
        return self._take(int.from_bytes(self._take(2), "big")).decode(errors="replace")

    def sized(self) -> bytes:
        return self._take(self.number())

    def certificate(self, version: int) -> bytes:
        if version == 2:
            self.text()  # always X.509
        return self.sized()

    def skip(self, size: int) -> None:
        self._take(size)

    def _take(self, size: int) -> bytes:
        end = self._position + size
        if end > len(self._data):
            raise JksError(f"it ends {end - len(self._data)} bytes too early")
        taken = self._data[self._position : end]
        self._position = end
        return taken


def _check_integrity(data: bytes, password: str) -> None:
    body, found = data[:-_DIGEST_SIZE], data[-_DIGEST_SIZE:]
    if not hmac.compare_digest(_digest(body, password), found):
        raise JksError("its password is wrong, or the file is damaged")


def _digest(body: bytes, password: str) -> bytes:
    return hashlib.sha1(password.encode("utf-16-be") + _WHITENER + body).digest()  # noqa: S324 the format's


def _mask(size: int, secret: bytes, salt: bytes) -> bytes:
    mask, block = b"", salt
    while len(mask) < size:
        block = hashlib.sha1(secret + block).digest()  # noqa: S324 the format's
        mask += block
    return mask[:size]


def _protect(key: bytes, password: str) -> bytes:
    secret, salt = password.encode("utf-16-be"), secrets.token_bytes(_DIGEST_SIZE)
    hidden = bytes(a ^ b for a, b in zip(key, _mask(len(key), secret, salt), strict=True))
    check = hashlib.sha1(secret + key).digest()  # noqa: S324 the format's
    octets = _der(0x04, salt + hidden + check)
    return _der(0x30, _ALGORITHM + octets)


def _unprotect(protected: bytes, password: str, alias: str) -> bytes:
    content, _ = _der_content(protected, 0x30)
    algorithm, rest = _der_content(content, 0x30)
    if _der(0x30, algorithm) != _ALGORITHM:
        raise JksError(f"the key {alias} is under a cipher that JKS does not have")
    octets, _ = _der_content(rest, 0x04)
    salt, hidden, check = octets[:20], octets[20:-20], octets[-20:]
    secret = password.encode("utf-16-be")
    key = bytes(a ^ b for a, b in zip(hidden, _mask(len(hidden), secret, salt), strict=True))
    if not hmac.compare_digest(hashlib.sha1(secret + key).digest(), check):  # noqa: S324 the format's
        raise JksError(f"the password of the key {alias} is wrong (ssl.key.password)")
    return key


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def _der_content(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """The content of the first value and what follows it."""
    if len(data) < 2 or data[0] != tag:
        raise JksError("a key is not encoded as JKS encodes it")
    size, start = data[1], 2
    if size & 0x80:
        start = 2 + (size & 0x7F)
        size = int.from_bytes(data[2:start], "big")
    return data[start : start + size], data[start + size :]


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">H", len(encoded)) + encoded


def _sized(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data
