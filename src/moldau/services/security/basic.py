"""Name and password of Basic authentication (RFC 7617)."""

import base64
import binascii


def credentials(text: bytes) -> tuple[str, str] | None:
    """Of what follows the word `Basic`; None if it is not of that form."""
    try:
        name, separator, password = base64.b64decode(text, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (name, password) if separator else None
