"""How keys are assigned to partitions, and which partitioner the producers of a topic really used.

The Java clients hash a key with murmur2, librdkafka (and so confluent-kafka) with CRC32. A repartition topic that is
joined with a topic of the user must use the partitioner of that topic's producers, or equal keys do not meet.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from moldau.core.errors import ConfigError

Partitioner = Callable[[bytes, int], int]

CERTAIN_KEYS_MIN: Final = 4
"""This many keys that match a partitioner are enough: with two partitions, the chance that it is wrong is 1 in 16."""


def crc32(key: bytes, partitions: int) -> int:
    return zlib.crc32(key) % partitions


def murmur2(key: bytes, partitions: int) -> int:
    """Java's `Utils.toPositive(Utils.murmur2(key)) % partitions`."""
    length, mask = len(key), 0xFFFFFFFF
    multiplier, value = 0x5BD1E995, 0x9747B28C ^ length
    whole = length & ~3
    for start in range(0, whole, 4):
        word = int.from_bytes(key[start : start + 4], "little") * multiplier & mask
        word = (word ^ word >> 24) * multiplier & mask
        value = value * multiplier & mask ^ word
    rest = key[whole:]
    if rest:
        value = (value ^ int.from_bytes(rest, "little")) * multiplier & mask
    value = (value ^ value >> 13) * multiplier & mask
    return ((value ^ value >> 15) & 0x7FFFFFFF) % partitions


def fnv1a(key: bytes, partitions: int) -> int:
    value = 0x811C9DC5
    for byte in key:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    # librdkafka uses the absolute value of the hash as a signed number.
    signed = value - (1 << 32) if value & 0x80000000 else value
    return abs(signed) % partitions


PARTITIONERS: Final[Mapping[str, Partitioner]] = {
    "murmur2": murmur2,
    "murmur2_random": murmur2,
    "consistent": crc32,
    "consistent_random": crc32,
    "fnv1a": fnv1a,
    "fnv1a_random": fnv1a,
}
"""By librdkafka's names. `_random`: a record without a key goes to any partition, as everywhere here."""
DEFAULT: Final = "murmur2_random"
KNOWN: Final = ("murmur2_random", "consistent_random", "fnv1a_random")


class Sample(NamedTuple):
    """The partitions of some keys of a topic."""

    topic: str
    partitions: int
    keys: Mapping[bytes, int]


def require_known(name: str, where: str) -> str:
    if name not in PARTITIONERS:
        raise ConfigError(f"{where}: there is no partitioner {name!r}; there are {', '.join(PARTITIONERS)}")
    return name


def detected(sample: Sample) -> str | None:
    """The partitioner that put all these keys where they are. None if it cannot be determined."""
    if sample.partitions < 2 or len(sample.keys) < CERTAIN_KEYS_MIN:
        return None
    fitting = [name for name in KNOWN if _fits(name, sample)]
    return fitting[0] if len(fitting) == 1 else None


def choose(
    groups: Iterable[tuple[Sequence[str], str]],
    samples: Mapping[str, Sample],
    internal: Iterable[str],
    named: Mapping[str, str],
) -> dict[str, str]:
    """The partitioner of each internal topic that does not use the default. `groups` are joined topics, with the user's
    line. Raises ConfigError if equal keys of joined topics are in different partitions."""
    internal, groups = set(internal), list(groups)
    known = dict(named)
    for topic, sample in samples.items():
        name = detected(sample)
        if name is not None:
            known.setdefault(topic, name)
    # A partitioner may propagate from one internal topic to the next.
    for _ in groups:
        for group, where in groups:
            found = {topic: known[topic] for topic in group if topic in known}
            _require_same([topic for topic in group if topic in samples], found, samples, where)
            if found:
                known |= {
                    topic: next(iter(found.values())) for topic in group if topic in internal - known.keys()
                }
    return {
        topic: name for topic, name in known.items() if topic in internal | named.keys() and name != DEFAULT
    }


def _require_same(
    users: Sequence[str], found: Mapping[str, str], samples: Mapping[str, Sample], where: str
) -> None:
    cure = (
        "so equal keys do not meet. Repartition one of them (stream.repartition()), or produce to both with the same "
        "partitioner (librdkafka: partitioner=murmur2_random is what Java's clients do)"
    )
    if len(set(found.values())) > 1:
        listed = ", ".join(f"{topic} by {name}" for topic, name in sorted(found.items()))
        raise ConfigError(
            f"{where}: the topics joined here were produced with different partitioners ({listed}), {cure}"
        )
    for index, topic in enumerate(users):
        for other in users[index + 1 :]:
            mine, theirs = samples[topic], samples[other]
            apart = [key for key in mine.keys if theirs.keys.get(key, mine.keys[key]) != mine.keys[key]]
            if apart:
                key = apart[0]
                raise ConfigError(
                    f"{where}: the key {key!r} lies in partition {mine.keys[key]} of {topic} and in partition "
                    f"{theirs.keys[key]} of {other}, {cure}"
                )


def _fits(name: str, sample: Sample) -> bool:
    place = PARTITIONERS[name]
    return all(place(key, sample.partitions) == partition for key, partition in sample.keys.items())
