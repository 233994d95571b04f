"""Fetches the public keys of an identity provider, from a URL or a file. Blocks."""

import urllib.request
from typing import Final

TIMEOUT_S: Final = 10.0
DOCUMENT_BYTES_MAX: Final = 1 << 20


def fetch_keys(url: str) -> bytes:
    """OSError if there is no answer. HTTPS is verified with the certificates of the system."""
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310 The administrator sets the URL.
        document: bytes = answer.read(DOCUMENT_BYTES_MAX + 1)
    if len(document) > DOCUMENT_BYTES_MAX:
        raise OSError(f"the document is larger than {DOCUMENT_BYTES_MAX} bytes")
    return document
