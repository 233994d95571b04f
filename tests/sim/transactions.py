"""A client that writes in transactions, by either protocol: version 1 announces partitions to the coordinator, with
version 2 a write joins by itself and every end raises the epoch (KIP-890)."""

from typing import Final

from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.transactions.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from moldau.protocol.messages.transactions.end_txn import EndTxnRequest, EndTxnResponse
from sim.history import History, Transaction, Violation
from sim.producers import PRODUCE_VERSION, produce, try_init_producer
from sim.sim_client import TRANSACTION, TROUBLE, SimClient

JOINING_PRODUCE_VERSION: Final = 12
ADD_VERSION: Final = 3
END_V1: Final = 3
END_V2: Final = 5
TRIES: Final = 20
AGAIN: Final = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)

Producer = tuple[int, int]
"""Its id and epoch."""


class TransactionalProducer:
    def __init__(
        self, client: SimClient, history: History, topic: str, partitions: int, *, is_v2: bool
    ) -> None:
        self._client = client
        self._history = history
        self._topic = topic
        self._partitions = partitions
        self._is_v2 = is_v2
        self._number = 0
        self._coordinators = ["", ""]
        """The one before, and the present one."""
        self._lookups = 0
        self._is_announced = False
        """Whether the coordinator has promised to know the transaction that is open."""

    async def run(self) -> None:
        while True:
            producer = await try_init_producer(self._client, self._client.name)
            sequences = dict.fromkeys(range(self._partitions), 0)
            while producer is not None:
                before, producer = producer, await self._one(producer, sequences)
                if producer is not None and producer != before:
                    sequences = dict.fromkeys(sequences, 0)
                await self._client.pause()

    async def _one(self, producer: Producer, sequences: dict[int, int]) -> Producer | None:
        """What to go on with; None when only a new start helps."""
        self._number += 1
        name = f"txn-{self._client.name}-{self._number}"
        values = {index: f"{name}-{index}".encode() for index in range(self._partitions)}
        transaction = Transaction(values)
        self._history.transactions.append(transaction)
        is_wanted = self._number % 4 != 0
        self._is_announced = False
        try:
            is_whole = await self._write(producer, sequences, values)
        except TROUBLE:
            is_whole = False
        if not is_whole:
            # Until the end is asked for the coordinator can only abort it. A write may still be on its way.
            transaction.committed = False
            await self._end(producer, committed=False)
            return None
        ended = await self._end(producer, committed=is_wanted)
        if ended is not None:
            transaction.committed = is_wanted
        return ended

    async def _write(self, producer: Producer, sequences: dict[int, int], values: dict[int, bytes]) -> bool:
        if not self._is_v2 and not await self._announce(producer):
            return False
        for index, value in values.items():
            if await self._produce(producer, index, value, sequences[index]) is not ErrorCode.NONE:
                return False
            sequences[index] += 1
        return True

    async def _announce(self, producer: Producer) -> bool:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._client.name,
            v3_and_below_producer_id=producer[0],
            v3_and_below_producer_epoch=producer[1],
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=self._topic, partitions=list(range(self._partitions)))
            ],
        )
        for _ in range(TRIES):
            host = await self._coordinator()
            added = await self._client.ask(host, request, ADD_VERSION, AddPartitionsToTxnResponse)
            codes = {
                ErrorCode(each.partition_error_code)
                for topic in added.results_by_topic_v3_and_below
                for each in topic.results_by_partition
            }
            if codes == {ErrorCode.NONE}:
                self._is_announced = True
                return True
            if codes != {ErrorCode.CONCURRENT_TRANSACTIONS}:
                return False
            await self._client.pause()
        return False

    async def _produce(self, producer: Producer, index: int, value: bytes, sequence: int) -> ErrorCode:
        """With version 2 a write comes too early while the markers of the transaction before are on their way."""
        code = ErrorCode.CONCURRENT_TRANSACTIONS
        for _ in range(TRIES):
            code, _ = await produce(
                self._client,
                (self._topic, index),
                [value],
                producer=producer,
                sequence=sequence,
                transactional_id=self._client.name,
                version=JOINING_PRODUCE_VERSION if self._is_v2 else PRODUCE_VERSION,
            )
            if code is not ErrorCode.CONCURRENT_TRANSACTIONS:
                break
            await self._client.pause()
        return code

    async def _end(self, producer: Producer, *, committed: bool) -> Producer | None:
        """Asks for the same end until somebody knows: the answers before may have been lost, not what they told."""
        request = EndTxnRequest(
            transactional_id=self._client.name,
            producer_id=producer[0],
            producer_epoch=producer[1],
            committed=committed,
        )
        for _ in range(TRIES):
            host = await self._coordinator()
            try:
                answer = await self._client.ask(
                    host, request, END_V2 if self._is_v2 else END_V1, EndTxnResponse
                )
            except TROUBLE:
                await self._client.pause()
                continue
            code = ErrorCode(answer.error_code)
            if code is ErrorCode.NONE:
                return (answer.producer_id, answer.producer_epoch) if self._is_v2 else producer
            if code not in AGAIN:
                self._check_refusal(code, committed=committed)
                return None
            await self._client.pause()
        return None

    async def _coordinator(self) -> str:
        """Every other time by the word of a former one: it may not have heard yet that it is none any more."""
        self._lookups += 1
        former = self._coordinators[0] or None if self._lookups % 2 else None
        host = await self._client.coordinator(self._client.name, TRANSACTION, former)
        if host != self._coordinators[1]:
            self._coordinators = [self._coordinators[1], host]
        return host

    def _check_refusal(self, code: ErrorCode, *, committed: bool) -> None:
        """A transaction that ran into its timeout is another matter: it fences whoever has no epoch to come back with,
        and one that has, and wants to commit, is told that it was aborted."""
        if code is not ErrorCode.INVALID_TXN_STATE:
            return
        if self._is_announced or (self._is_v2 and not committed):
            raise Violation(
                f"{self._client.name} cannot end transaction {self._number}: its coordinator forgot it"
            )
