"""The marker of a committed batch: the metadata of the offsets that a batch commits with its output.

It tells a later run, or a run that takes over, which batches are committed.
"""

from typing import NamedTuple


class Marker(NamedTuple):
    """`moldau <checkpoint id> <batch id>`"""

    checkpoint_id: str
    batch_id: int

    def __str__(self) -> str:
        return f"moldau {self.checkpoint_id} {self.batch_id}"

    @classmethod
    def parse(cls, metadata: str | None) -> "Marker | None":
        """None for metadata that others have committed."""
        words = (metadata or "").split(" ")
        if len(words) != 3 or words[0] != "moldau" or not words[2].isdigit():
            return None
        return cls(words[1], int(words[2]))
