"""Leader epochs (KIP-101), and the text files for them and for offsets."""

import pytest

from moldau.core.ids import TopicPartition
from moldau.storage.checkpoints import CheckpointError, offsets_text, parse_offsets
from moldau.storage.log.epochs import UNDEFINED, LeaderEpochs


def epochs_of(*entries: tuple[int, int]) -> LeaderEpochs:
    epochs = LeaderEpochs()
    for entry in entries:
        epochs.assign(*entry)
    return epochs


def test_where_an_epoch_ends() -> None:
    epochs = epochs_of((2, 0), (3, 10), (7, 30))
    assert epochs.end_offset_for(7, 99) == (7, 99)
    assert epochs.end_offset_for(2, 99) == (2, 10)
    assert epochs.end_offset_for(3, 99) == (3, 30)
    assert epochs.end_offset_for(5, 99) == (3, 30)
    assert epochs.end_offset_for(1, 99) == (1, 0)
    assert epochs.end_offset_for(8, 99) == UNDEFINED
    assert epochs.end_offset_for(-1, 99) == UNDEFINED
    assert LeaderEpochs().end_offset_for(0, 0) == UNDEFINED


def test_the_same_epoch_again_changes_nothing() -> None:
    epochs = epochs_of((2, 0))
    epochs.is_saved = True
    epochs.assign(2, 5)
    assert epochs.entries == ((2, 0),)
    assert epochs.is_saved


def test_what_contradicts_a_new_entry_goes() -> None:
    assert epochs_of((2, 0), (5, 20), (4, 10)).entries == ((2, 0), (4, 10))
    assert epochs_of((2, 0), (5, 20), (6, 20)).entries == ((2, 0), (6, 20))


def test_cutting_at_both_ends() -> None:
    epochs = epochs_of((1, 0), (2, 10), (3, 20))
    epochs.truncate_from_end(20)
    assert epochs.entries == ((1, 0), (2, 10))
    assert epochs.latest == 2
    epochs.truncate_from_start(15)
    assert epochs.entries == ((2, 15),)
    epochs.truncate_from_start(14)
    assert epochs.entries == ((2, 15),)
    epochs.clear()
    assert (epochs.entries, epochs.latest) == ((), -1)


def test_the_epoch_of_an_offset() -> None:
    epochs = epochs_of((1, 5), (4, 10))
    assert [epochs.epoch_of(offset) for offset in (0, 4, 5, 9, 10, 100)] == [-1, -1, 1, 1, 4, 4]


def test_epochs_as_text_and_back() -> None:
    epochs = epochs_of((0, 0), (3, 1234))
    assert epochs.text() == b"0\n2\n0 0\n3 1234\n"
    assert LeaderEpochs.parse(epochs.text()).entries == epochs.entries
    assert LeaderEpochs.parse(b"0\n0\n").entries == ()


def test_offsets_as_text_and_back() -> None:
    offsets = {TopicPartition("b.c", 1): 7, TopicPartition("a-1", 0): 2**40}
    text = offsets_text(offsets)
    assert text == b"0\n2\na-1 0 1099511627776\nb.c 1 7\n"
    assert parse_offsets(text, "x") == offsets


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"0\n",
        b"1\n0\n",
        b"x\n0\n",
        b"0\n2\na 0 1\n",
        b"0\n1\na 0\n",
        b"0\n1\na 0 x\n",
        b"\xff\xfe",
        b"0\n1\n\x00",
    ],
)
def test_malformed_files_are_named(data: bytes) -> None:
    with pytest.raises(CheckpointError, match="recovery-point"):
        parse_offsets(data, "recovery-point-offset-checkpoint")
