"""Frames are whole and in order, however the bytes arrive."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.core.errors import PeerError
from moldau.net.frames import OWN_BUFFER_KEPT_MAX, FrameAssembler


def framed(*bodies: bytes) -> bytes:
    return b"".join(struct.pack(">i", len(body)) + body for body in bodies)


def feed(assembler: FrameAssembler, data: bytes) -> list[bytes]:
    """Writes into the target as a socket would, at most what fits, and takes every frame."""
    frames = []
    while data:
        target = assembler.target()
        count = min(len(target), len(data))
        assert count > 0
        target[:count] = data[:count]
        data = data[count:]
        assembler.received(count)
        while (frame := assembler.next_frame()) is not None:
            frames.append(bytes(frame))
        assembler.settle()
    return frames


@given(
    bodies=st.lists(st.binary(max_size=300), max_size=12),
    cuts=st.lists(st.integers(min_value=1, max_value=200), min_size=1, max_size=40),
    scratch_bytes=st.integers(min_value=8, max_value=256),
)
def test_any_chunking_gives_the_same_frames(bodies: list[bytes], cuts: list[int], scratch_bytes: int) -> None:
    scratch = memoryview(bytearray(scratch_bytes))
    assembler = FrameAssembler(scratch, frame_bytes_max=1000)
    stream, frames, turn = framed(*bodies), [], 0
    while stream:
        size = cuts[turn % len(cuts)]
        turn += 1
        frames += feed(assembler, stream[:size])
        scratch[:] = b"\xff" * scratch_bytes  # Another connection uses the scratch in between.
        stream = stream[size:]
    assert frames == bodies
    assert assembler.buffered_bytes == 0


@pytest.mark.parametrize("announced", [-1, 1001, 2**31 - 1])
def test_an_announced_length_out_of_bounds_is_the_peers_fault(announced: int) -> None:
    assembler = FrameAssembler(memoryview(bytearray(64)), frame_bytes_max=1000)
    with pytest.raises(PeerError, match=str(announced)):
        feed(assembler, struct.pack(">i", announced))


def test_frames_left_unserved_survive_a_pause() -> None:
    scratch = memoryview(bytearray(64))
    assembler = FrameAssembler(scratch, frame_bytes_max=1000)
    stream = framed(b"one", b"two", b"three")
    assembler.target()[: len(stream)] = stream
    assembler.received(len(stream))
    assert bytes(assembler.next_frame() or b"") == b"one"
    assembler.settle()
    scratch[:] = bytes(64)
    assert bytes(assembler.next_frame() or b"") == b"two"
    assert bytes(assembler.next_frame() or b"") == b"three"
    assert assembler.next_frame() is None


def test_a_huge_frame_does_not_keep_its_memory() -> None:
    scratch = memoryview(bytearray(64))
    assembler = FrameAssembler(scratch, frame_bytes_max=2 * OWN_BUFFER_KEPT_MAX)
    assert len(feed(assembler, framed(bytes(OWN_BUFFER_KEPT_MAX + 1)))) == 1
    assert assembler.target().obj is scratch.obj
