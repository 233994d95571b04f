"""XXH3, 64 bits, without a seed: the hash Kafka keeps of the topics a group reads (KIP-1101).

For a few kilobytes now and then, in plain Python. The specification is xxHash's own, version 0.8.
"""

from struct import unpack_from
from typing import Final

_MASK: Final = 0xFFFF_FFFF_FFFF_FFFF
_MASK_32: Final = 0xFFFF_FFFF
_P32_1: Final = 0x9E37_79B1
_P32_2: Final = 0x85EB_CA77
_P32_3: Final = 0xC2B2_AE3D
_P64_1: Final = 0x9E37_79B1_85EB_CA87
_P64_2: Final = 0xC2B2_AE3D_27D4_EB4F
_P64_3: Final = 0x1656_67B1_9E37_79F9
_P64_4: Final = 0x85EB_CA77_C2B2_AE63
_P64_5: Final = 0x27D4_EB2F_1656_67C5
_PRIME_MX1: Final = 0x1656_6791_9E37_79F9
_PRIME_MX2: Final = 0x9FB2_1C65_1E98_DF25

_SECRET: Final = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_STRIPE: Final = 64
_STRIPES_PER_BLOCK: Final = (len(_SECRET) - _STRIPE) // 8
_BLOCK: Final = _STRIPE * _STRIPES_PER_BLOCK


def xxh3_64(data: bytes) -> int:
    """As a signed 64-bit number, which is how Java has it."""
    size = len(data)
    if size <= 16:
        digest = _up_to_16(data, size)
    elif size <= 128:
        digest = _up_to_128(data, size)
    elif size <= 240:
        digest = _up_to_240(data, size)
    else:
        digest = _longer(data, size)
    return digest - (1 << 64) if digest >> 63 else digest


def _u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _u64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _folded(a: int, b: int) -> int:
    product = a * b
    return (product & _MASK) ^ (product >> 64)


def _avalanche(value: int) -> int:
    value ^= value >> 37
    value = value * _PRIME_MX1 & _MASK
    return value ^ value >> 32


def _avalanche_64(value: int) -> int:
    value ^= value >> 33
    value = value * _P64_2 & _MASK
    value ^= value >> 29
    value = value * _P64_3 & _MASK
    return value ^ value >> 32


def _swapped(value: int) -> int:
    return int.from_bytes(value.to_bytes(8, "little"), "big")


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> 64 - by) & _MASK


def _up_to_16(data: bytes, size: int) -> int:
    if size > 8:
        low = _u64(data, 0) ^ _u64(_SECRET, 24) ^ _u64(_SECRET, 32)
        high = _u64(data, size - 8) ^ _u64(_SECRET, 40) ^ _u64(_SECRET, 48)
        return _avalanche(size + _swapped(low) + high + _folded(low, high) & _MASK)
    if size >= 4:
        both = _u32(data, size - 4) + (_u32(data, 0) << 32)
        value = both ^ _u64(_SECRET, 8) ^ _u64(_SECRET, 16)
        value ^= _rotated(value, 49) ^ _rotated(value, 24)
        value = value * _PRIME_MX2 & _MASK
        value ^= (value >> 35) + size
        value = value * _PRIME_MX2 & _MASK
        return value ^ value >> 28
    if size:
        both = data[0] << 16 | data[size >> 1] << 24 | data[size - 1] | size << 8
        return _avalanche_64(both ^ _u32(_SECRET, 0) ^ _u32(_SECRET, 4))
    return _avalanche_64(_u64(_SECRET, 56) ^ _u64(_SECRET, 64))


def _mixed(data: bytes, at: int, secret_at: int) -> int:
    return _folded(
        _u64(data, at) ^ _u64(_SECRET, secret_at), _u64(data, at + 8) ^ _u64(_SECRET, secret_at + 8)
    )


def _up_to_128(data: bytes, size: int) -> int:
    total = size * _P64_1
    for step in range((size - 1) // 32, -1, -1):
        total += _mixed(data, 16 * step, 32 * step)
        total += _mixed(data, size - 16 * (step + 1), 32 * step + 16)
    return _avalanche(total & _MASK)


def _up_to_240(data: bytes, size: int) -> int:
    total = size * _P64_1 + sum(_mixed(data, 16 * step, 16 * step) for step in range(8))
    total = _avalanche(total & _MASK)
    total += sum(_mixed(data, 16 * step, 16 * (step - 8) + 3) for step in range(8, size // 16))
    total += _mixed(data, size - 16, 136 - 17)
    return _avalanche(total & _MASK)


def _longer(data: bytes, size: int) -> int:
    lanes = [_P32_3, _P64_1, _P64_2, _P64_3, _P64_4, _P32_2, _P64_5, _P32_1]
    blocks = (size - 1) // _BLOCK
    for block in range(blocks):
        for stripe in range(_STRIPES_PER_BLOCK):
            _accumulate(lanes, data, block * _BLOCK + stripe * _STRIPE, stripe * 8)
        for lane, key in enumerate(unpack_from("<8Q", _SECRET, len(_SECRET) - _STRIPE)):
            value = lanes[lane]
            lanes[lane] = (value ^ value >> 47 ^ key) * _P32_1 & _MASK
    rest = size - 1 - blocks * _BLOCK
    for stripe in range(rest // _STRIPE):
        _accumulate(lanes, data, blocks * _BLOCK + stripe * _STRIPE, stripe * 8)
    _accumulate(lanes, data, size - _STRIPE, len(_SECRET) - _STRIPE - 7)
    merged = size * _P64_1
    keys = unpack_from("<8Q", _SECRET, 11)
    for lane in range(0, 8, 2):
        merged += _folded(lanes[lane] ^ keys[lane], lanes[lane + 1] ^ keys[lane + 1])
    return _avalanche(merged & _MASK)


def _accumulate(lanes: list[int], data: bytes, at: int, secret_at: int) -> None:
    values = unpack_from("<8Q", data, at)
    keys = unpack_from("<8Q", _SECRET, secret_at)
    for lane in range(8):
        value, keyed = values[lane], values[lane] ^ keys[lane]
        lanes[lane ^ 1] = lanes[lane ^ 1] + value & _MASK
        lanes[lane] = lanes[lane] + (keyed & _MASK_32) * (keyed >> 32) & _MASK
