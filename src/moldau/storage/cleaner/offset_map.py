"""The last offset of each key, for as many keys as fit the memory limit.

Long keys are stored as 16-byte digests; Kafka digests every key. A key that costs little more than its digest is
stored as it is, unless it has the length of a digest and could be mistaken for one.
"""

from hashlib import blake2b
from typing import Final

DIGEST_BYTES: Final = 16
PLAIN_KEY_BYTES_MAX: Final = 32
ENTRY_BYTES: Final = 170
"""The most that one dict entry from such a key to an offset costs, measured while the dict grows."""


def digest(key: bytes) -> bytes:
    if len(key) <= PLAIN_KEY_BYTES_MAX and len(key) != DIGEST_BYTES:
        return key
    return blake2b(key, digest_size=DIGEST_BYTES).digest()


class OffsetMap:
    __slots__ = ("_offsets", "entries_max", "latest_offset")

    def __init__(self, bytes_max: int, load_factor: float) -> None:
        self.entries_max = max(int(bytes_max / ENTRY_BYTES * load_factor), 1)
        self.latest_offset = -1
        """The last offset read into the map. Records after it are kept whatever their key."""
        self._offsets: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._offsets)

    def put(self, key: bytes, offset: int) -> bool:
        """Returns False when the map is full and the offset was not stored."""
        short = digest(key)
        if len(self._offsets) >= self.entries_max and short not in self._offsets:
            return False
        self._offsets[short] = self.latest_offset = offset
        return True

    def get(self, key: bytes) -> int:
        """-1 when the key is not in the part of the log that was read."""
        return self._offsets.get(digest(key), -1)

    def read_up_to(self, offset: int) -> None:
        self.latest_offset = max(self.latest_offset, offset)
