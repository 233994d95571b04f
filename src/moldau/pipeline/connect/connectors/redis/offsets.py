"""The offsets that redis.exactly.once keeps in Redis, each under a key of its own."""

from collections.abc import Mapping
from typing import Any, Final

from moldau.pipeline.connect.api import TopicPartition
from moldau.pipeline.connect.connectors.redis.settings import RedisSettings

_PATTERN_SIGNS: Final = str.maketrans({sign: f"\\{sign}" for sign in "*?[]^\\"})


def offset_key(settings: RedisSettings, place: TopicPartition) -> str:
    """It has the end offset of the records of this partition that Redis has."""
    return f"{settings.offsets_keyspace}:{place.topic}:{place.partition}"


def change_offsets(
    client: Any, settings: RedisSettings, offsets: Mapping[TopicPartition, int | None], *, is_reset: bool
) -> None:
    """None deletes an offset; `is_reset` deletes all that the connector has."""
    gone = {offset_key(settings, place) for place, offset in offsets.items() if offset is None}
    if is_reset:
        gone |= _keys(client, settings)
    with client.pipeline(transaction=True) as transaction:
        for place, offset in offsets.items():
            if offset is not None:
                transaction.set(offset_key(settings, place), offset)
        if gone:
            transaction.delete(*gone)
        transaction.execute()


def _keys(client: Any, settings: RedisSettings) -> set[str]:
    """Of a connector whose name this one's begins with, there are more colons."""
    start = f"{settings.offsets_keyspace}:"
    found = (one.decode() for one in client.scan_iter(match=f"{start.translate(_PATTERN_SIGNS)}*"))
    return {one for one in found if one.removeprefix(start).count(":") == 1}
