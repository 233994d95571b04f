"""The end of a transaction that comes twice, the second time when the next one is open."""

from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.transactions.end_txn import EndTxnRequest, EndTxnResponse
from moldau.protocol.messages.transactions.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from sim.producers import init_producer, produce
from sim.sim_client import TRANSACTION, TROUBLE, SimClient
from sim.story import TOPIC, Story, tell
from sim.transactions import AGAIN, END_V2, JOINING_PRODUCE_VERSION

INDEX = 0


async def write(client: SimClient, producer: tuple[int, int]) -> None:
    """Begins a transaction, or goes on with it."""
    code = ErrorCode.CONCURRENT_TRANSACTIONS
    while code is ErrorCode.CONCURRENT_TRANSACTIONS:
        code, _ = await produce(
            client,
            (TOPIC, INDEX),
            [b"value"],
            producer=producer,
            sequence=0,
            transactional_id="txn",
            version=JOINING_PRODUCE_VERSION,
        )
        await client.pause()
    assert code is ErrorCode.NONE


async def commit(client: SimClient, producer: tuple[int, int]) -> tuple[int, int]:
    request = EndTxnRequest(
        transactional_id="txn", producer_id=producer[0], producer_epoch=producer[1], committed=True
    )
    while True:
        try:
            host = await client.coordinator("txn", TRANSACTION)
            answer = await client.ask(host, request, END_V2, EndTxnResponse)
        except TROUBLE:
            continue
        if answer.error_code not in AGAIN:
            assert answer.error_code == ErrorCode.NONE
            return answer.producer_id, answer.producer_epoch


def test_it_does_not_end_the_next_transaction() -> None:
    """The next one has the epoch of the marker: by that alone they cannot be told apart (KIP-1228)."""

    async def story(it: Story) -> None:
        first = (await init_producer(it.client, "txn"), 0)
        await write(it.client, first)
        second = await commit(it.client, first)
        assert second == (first[0], 1)
        await write(it.client, second)
        marker = WritableTxnMarker(
            producer_id=second[0],
            producer_epoch=second[1],
            transaction_result=True,
            topics=[WritableTxnMarkerTopic(name=TOPIC, partition_indexes=[INDEX])],
            coordinator_epoch=0,
            transaction_version=2,
        )
        host = await it.client.leader(TOPIC, INDEX)
        answer = await it.client.ask(
            host, WriteTxnMarkersRequest(markers=[marker]), 2, WriteTxnMarkersResponse
        )
        told = answer.markers[0].topics[0].partitions[0].error_code
        assert told == ErrorCode.INVALID_PRODUCER_EPOCH
        leader = it.leader()
        assert leader is not None
        partition = it.partition(leader)
        assert partition is not None and partition.log is not None
        assert partition.log.producers.has_open_transaction(*second)

    tell(story)
