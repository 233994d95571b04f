"""EndTxn in bare frames: one that arrives late, and one that is sent twice."""

from collections.abc import Callable, Iterator

import pytest

from compat.groups.raw_transactional import PRODUCE_V1, RawTransactional
from compat.server_process import ServerProcess
from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode

V1, V2 = 4, 5
"""Of EndTxn: the last version of the first protocol, and the first that raises the epoch at every end (KIP-890)."""


@pytest.fixture
def producer(broker: ServerProcess, new_topic: Callable[..., str]) -> Iterator[RawTransactional]:
    with WireClient(broker.port) as wire:
        yield RawTransactional(wire, broker.bootstrap, new_topic())


def test_a_delayed_end_cannot_commit_the_next_transaction(producer: RawTransactional) -> None:
    producer.init()
    producer.produce([b"first"])
    delayed = (producer.producer_id, producer.epoch)
    assert producer.end(V2, committed=True) == ErrorCode.NONE
    assert producer.epoch == delayed[1] + 1
    producer.produce([b"second"])
    assert producer.end_of(V2, *delayed, committed=True) == ErrorCode.PRODUCER_FENCED
    assert producer.read() == [b"first"]
    assert producer.end(V2, committed=False) == ErrorCode.NONE
    assert producer.read_when_ended() == [b"first"]


def test_an_end_sent_twice_is_answered_twice(producer: RawTransactional) -> None:
    """As long as nothing else was begun: the first answer may have been lost."""
    producer.init()
    producer.produce([b"first"])
    before = (producer.producer_id, producer.epoch)
    assert producer.end(V2, committed=True) == ErrorCode.NONE
    after = (producer.producer_id, producer.epoch)
    assert producer.end_of(V2, *before, committed=True) == ErrorCode.NONE
    assert (producer.producer_id, producer.epoch) == after
    assert producer.end_of(V2, *before, committed=False) == ErrorCode.INVALID_TXN_STATE
    assert producer.read_when_ended() == [b"first"]


def test_a_delayed_batch_does_not_join_the_next_transaction(producer: RawTransactional) -> None:
    producer.init()
    producer.produce([b"first"])
    delayed = producer.batch([b"late"])
    assert producer.end(V2, committed=False) == ErrorCode.NONE
    assert producer.read_when_ended() == []
    assert producer.send(delayed) == ErrorCode.INVALID_PRODUCER_EPOCH
    producer.produce([b"second"])
    assert producer.end(V2, committed=True) == ErrorCode.NONE
    assert producer.read_when_ended() == [b"second"]


def test_nothing_hangs_when_the_partition_was_not_added(producer: RawTransactional) -> None:
    """The first protocol adds partitions by a request of its own; a batch for another one is not taken."""
    producer.init()
    code = producer.send(producer.batch([b"x"]), version=PRODUCE_V1)
    assert code == ErrorCode.TRANSACTION_ABORTABLE
    assert producer.read(committed=False) == []


def test_the_first_protocol_keeps_its_epoch(producer: RawTransactional) -> None:
    producer.init()
    epoch = producer.epoch
    for value in (b"first", b"second"):
        producer.add_partition()
        producer.produce([value], version=PRODUCE_V1)
        assert producer.end(V1, committed=True) == ErrorCode.NONE
        assert producer.epoch == epoch
    assert producer.read_when_ended() == [b"first", b"second"]
