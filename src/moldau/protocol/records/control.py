"""Control batches: the markers that end a transaction in a partition (KIP-98)."""

import struct
from enum import IntEnum
from typing import Final, NamedTuple

from moldau.core.errors import PeerError
from moldau.core.ids import NO_LEADER_EPOCH
from moldau.core.ports import Buffer
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record, iter_records

_KEY: Final = struct.Struct(">hh")
_VALUE: Final = struct.Struct(">hi")
_VERSION: Final = 0
_MARKER_BYTES_MAX: Final = 1 << 16


class ControlType(IntEnum):
    ABORT = 0
    COMMIT = 1


class EndTransactionMarker(NamedTuple):
    control_type: ControlType
    coordinator_epoch: int


def build_end_transaction_marker(
    control_type: ControlType,
    *,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
    timestamp_ms: int,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
) -> bytearray:
    key, value = _KEY.pack(_VERSION, control_type), _VALUE.pack(_VERSION, coordinator_epoch)
    return build_batch(
        [Record(base_offset, timestamp_ms, key, value)],
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        is_control=True,
    )


def read_end_transaction_marker(batch: Buffer) -> EndTransactionMarker | None:
    """The marker in a control batch; None for another kind of control record.

    Newer versions keep the known fields in front, so they are read the same way.
    """
    for record in iter_records(batch, decompressed_bytes_max=_MARKER_BYTES_MAX):
        if record.key is None or len(record.key) < _KEY.size:
            raise PeerError(f"control record at offset {record.offset} has no usable key")
        _, number = _KEY.unpack_from(record.key)
        if number not in (ControlType.ABORT, ControlType.COMMIT):
            return None
        if record.value is None or len(record.value) < _VALUE.size:
            raise PeerError(f"transaction marker at offset {record.offset} has no usable value")
        _, coordinator_epoch = _VALUE.unpack_from(record.value)
        return EndTransactionMarker(ControlType(number), coordinator_epoch)
    return None
