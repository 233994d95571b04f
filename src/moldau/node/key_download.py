"""Fetches from an identity provider: its public keys, and tokens for this broker. From a URL or a file. Blocks."""

import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError

TIMEOUT_S: Final = 10.0
DOCUMENT_BYTES_MAX: Final = 1 << 20


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The secret of a client is not sent elsewhere."""

    def redirect_request(self, *arguments: object) -> None:
        return None


def fetch_keys(url: str) -> bytes:
    """OSError if there is no answer. HTTPS is verified with the certificates of the system."""
    return fetch_token(url, {}, None, TIMEOUT_S)


def fetch_token(url: str, headers: Mapping[str, str], body: bytes | None, timeout_s: float) -> bytes:
    """With a body it is a POST. OSError as above."""
    request = urllib.request.Request(url, body, dict(headers))  # noqa: S310 The administrator sets the URL.
    opener = urllib.request.build_opener() if body is None else urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(request, timeout=timeout_s) as answer:
            document: bytes = answer.read(DOCUMENT_BYTES_MAX + 1)
    except HTTPError as error:
        error.close()
        raise
    except HTTPException as error:
        raise OSError(f"{url} does not speak HTTP: {error!r}") from error
    if len(document) > DOCUMENT_BYTES_MAX:
        raise OSError(f"the document is larger than {DOCUMENT_BYTES_MAX} bytes")
    return document
