"""Transactions in `__transaction_state`. v1 flexible; previous and next producer id (KIP-890)."""

from collections.abc import Sequence
from typing import ClassVar

from moldau.protocol.spec import array, int8, int16, int32, int64, message, string, structure
from moldau.protocol.stored.framing import RecordKey, RecordValue


@message(versions="0", flexible="none")
@structure
class TransactionLogKey(RecordKey):
    RECORD_TYPE: ClassVar[int] = 0
    transactional_id: str = string()


@structure
class PartitionsSchema:
    topic: str = string()
    partition_ids: Sequence[int] = array("int32")


@message(versions="0-1", flexible="1+")
@structure
class TransactionLogValue(RecordValue):
    producer_id: int = int64()
    previous_producer_id: int = int64(versions="1+", default=-1, tag=0)
    next_producer_id: int = int64(versions="1+", default=-1, tag=1)
    producer_epoch: int = int16()
    next_producer_epoch: int = int16(versions="1+", default=-1, tag=3)
    transaction_timeout_ms: int = int32()
    transaction_status: int = int8()
    transaction_partitions: Sequence[PartitionsSchema] | None = array(PartitionsSchema, nullable="0+")
    transaction_last_update_timestamp_ms: int = int64()
    transaction_start_timestamp_ms: int = int64()
    client_transaction_version: int = int16(versions="1+", default=0, tag=2)
