"""The first five bytes of a record with a schema: a zero, and the schema's id in the registry."""

from typing import Final

PREFIX_SIZE: Final = 5
_MAGIC: Final = 0


def prefix_of(schema_id: int) -> bytes:
    return bytes([_MAGIC]) + schema_id.to_bytes(4, "big")


def schema_id_of(data: bytes, form: str) -> int:
    if len(data) < PREFIX_SIZE or data[0] != _MAGIC:
        raise ValueError(
            f"the record has no schema id in front, which the format {form} needs: {bytes(data[:20])!r}. "
            "Write it with a serializer that uses the schema registry, or declare another format"
        )
    return int.from_bytes(data[1:PREFIX_SIZE], "big")
