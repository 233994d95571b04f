"""What the state topic holds. Keys are texts; a record without a value removes what its key stands for.

`profile/CLIENT` and `flow/CLIENT` are a session in two parts, `owner` says which process writes.
"""

from dataclasses import dataclass, field
from typing import Final

OWNER: Final = b"owner"
PROFILE: Final = b"profile/"
FLOW: Final = b"flow/"


def profile_key(client_id: str) -> bytes:
    return PROFILE + client_id.encode()


def flow_key(client_id: str) -> bytes:
    return FLOW + client_id.encode()


@dataclass
class Stored:
    """Everything in the state topic. Only `replay` changes it."""

    owner: bytes | None = None
    profiles: dict[str, bytes] = field(default_factory=dict)
    flows: dict[str, bytes] = field(default_factory=dict)

    def replay(self, key: bytes, value: bytes | None) -> None:
        """Takes one record, in order."""
        if key == OWNER:
            self.owner = value
        elif key.startswith(PROFILE):
            _put(self.profiles, key.removeprefix(PROFILE).decode(), value)
        elif key.startswith(FLOW):
            _put(self.flows, key.removeprefix(FLOW).decode(), value)


def _put(found: dict[str, bytes], client_id: str, value: bytes | None) -> None:
    if value is None:
        found.pop(client_id, None)
    else:
        found[client_id] = value
