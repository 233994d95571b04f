"""Reads and writes PEM. Tolerates what settings files do to it: blanks in place of line ends."""

import base64
import binascii
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

_BLOCK: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
CERTIFICATES: Final = frozenset({"CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"})
REVOCATION_LIST: Final = "X509 CRL"


class PemBlock(NamedTuple):
    label: str
    text: str
    """The whole block, with a line break after each 64 characters."""


def blocks(text: str) -> Iterator[PemBlock]:
    for match in _BLOCK.finditer(text):
        label, body = match[1], match[2]
        if ":" in body:  # A key in the old encrypted form has headers, which need their lines.
            yield PemBlock(label, f"{match[0]}\n")
        else:
            yield PemBlock(label, _block(label, "".join(body.split())))


def certificates_of(text: str) -> list[bytes]:
    """The certificates in DER, in order. ValueError if one is not base64."""
    return [_der(block) for block in blocks(text) if block.label in CERTIFICATES]


def revocation_lists_of(text: str) -> list[str]:
    return [block.text for block in blocks(text) if block.label == REVOCATION_LIST]


def private_key_of(text: str) -> str | None:
    """The first private key, as PEM."""
    return next((block.text for block in blocks(text) if block.label.endswith("PRIVATE KEY")), None)


def certificates_text(certificates: Iterable[bytes]) -> str:
    return "".join(_block("CERTIFICATE", base64.b64encode(each).decode()) for each in certificates)


def _block(label: str, encoded: str) -> str:
    lines = "\n".join(textwrap.wrap(encoded, 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"


def _der(block: PemBlock) -> bytes:
    body = "".join(block.text.splitlines()[1:-1])
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise ValueError(f"a block {block.label} is not base64: {error}") from None
