"""The partition that Java's producer, and librdkafka's `murmur2` partitioners, choose for a key."""

_SEED = 0x9747B28C
_FACTOR = 0x5BD1E995
_SHIFT = 24
_WORD = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    hashed = (_SEED ^ len(data)) & _WORD
    whole = len(data) // 4 * 4
    for start in range(0, whole, 4):
        part = int.from_bytes(data[start : start + 4], "little") * _FACTOR & _WORD
        part = (part ^ part >> _SHIFT) * _FACTOR & _WORD
        hashed = (hashed * _FACTOR & _WORD) ^ part
    if rest := data[whole:]:
        hashed = (hashed ^ int.from_bytes(rest, "little")) * _FACTOR & _WORD
    hashed = (hashed ^ hashed >> 13) * _FACTOR & _WORD
    return hashed ^ hashed >> 15


def murmur2_partition(key: bytes, partitions: int) -> int:
    return (murmur2(key) & 0x7FFFFFFF) % partitions
