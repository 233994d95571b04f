"""Passwords in addresses, such as `redis://user:password@host` and `jdbc:postgresql://host/db?password=...`. Pure.

They are hidden as other secrets are, and in what requests answer. A reference to a secret is not hidden.
"""

import re
from typing import Final
from urllib.parse import unquote

HIDDEN: Final = "****"
"""Not in brackets, as elsewhere: those are not allowed in addresses."""
_LOGIN: Final = re.compile(r"(?<=://)([^/?#\s:@]*:)([^/?#\s]+)(?=@)")
_PARAMETER: Final = re.compile(
    r"(?<=[?&;])([\w.-]*(?:password|passwd|pwd|secret|token|credential)=)([^&;#\s]+)", re.IGNORECASE
)
_REFERENCE: Final = re.compile(r"\$\{[^}]*\}")


def passwords_in(text: str) -> set[str]:
    """As they are written, and decoded."""
    if "://" not in text:
        return set()
    found = {one[2] for pattern in (_LOGIN, _PARAMETER) for one in pattern.finditer(text)}
    return {form for one in found if not _REFERENCE.fullmatch(one) for form in (one, unquote(one))}


def hidden_in(text: str) -> str:
    """The text with its passwords hidden."""
    if "://" not in text:
        return text
    for pattern in (_LOGIN, _PARAMETER):
        text = pattern.sub(_hidden, text)
    return text


def _hidden(found: re.Match[str]) -> str:
    return found[0] if _REFERENCE.fullmatch(found[2]) else f"{found[1]}{HIDDEN}"
