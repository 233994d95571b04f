"""What must hold of a cluster at every moment, seen from above: all brokers' logs and roles at once."""

from collections.abc import Iterable

from moldau.broker.hosting.hosted_partitions import Partition
from moldau.core.ids import TopicPartition
from moldau.protocol.records.batch import HEADER_SIZE, read_header
from moldau.storage.log.partition_log import PartitionLog
from sim.history import Violation
from sim.sim_broker import SimBroker

Batch = tuple[int, int, int]
"""Last offset, leader epoch and CRC: equal for equal batches only."""


class Invariants:
    def __init__(self) -> None:
        self._leaders: dict[tuple[TopicPartition, int], int] = {}
        self._watermarks: dict[PartitionLog, int] = {}
        """Of a log as one process has it: a replica that went and came back has another one."""
        self._committed: dict[TopicPartition, dict[int, Batch]] = {}
        """By base offset, of everything that was below anybody's high watermark at some time."""
        self._compared: dict[PartitionLog, int] = {}
        self.checks = 0

    def check(self, brokers: Iterable[SimBroker]) -> None:
        self.checks += 1
        for each in brokers:
            if each.broker is None:
                continue
            for partition in each.broker.partitions:
                if partition.log is not None:
                    self._check_one(each, partition, partition.log)

    def _check_one(self, broker: SimBroker, partition: Partition, log: PartitionLog) -> None:
        place = TopicPartition(partition.topic, partition.index)
        if partition.is_leader:
            leader = self._leaders.setdefault((place, partition.leader_epoch), broker.broker_id)
            if leader != broker.broker_id:
                raise Violation(
                    f"{place} has two leaders in epoch {partition.leader_epoch}: {leader} and {broker.broker_id}"
                )
        known = self._watermarks.get(log, 0)
        if log.high_watermark < known:
            raise Violation(
                f"the high watermark of {place} on {broker.broker_id} went back from {known} to "
                f"{log.high_watermark}"
            )
        if log.high_watermark > known or log not in self._compared:
            self._watermarks[log] = log.high_watermark
            self._compare(broker.broker_id, place, log)

    def _compare(self, broker_id: int, place: TopicPartition, log: PartitionLog) -> None:
        committed = self._committed.setdefault(place, {})
        start = self._compared.get(log, log.start_offset)
        for base, batch in _batches(log, start, log.high_watermark):
            known = committed.setdefault(base, batch)
            if known != batch:
                raise Violation(
                    f"{place} at offset {base} on broker {broker_id} is {batch}, but {known} was committed there"
                )
        self._compared[log] = log.high_watermark


def _batches(log: PartitionLog, start: int, end: int) -> Iterable[tuple[int, Batch]]:
    offset = start
    while offset < end:
        found = log.read(offset, 1 << 20, end_offset=end, at_least_one_batch=True)
        if found is None:
            return
        data, position = found.read(), 0
        while len(data) - position >= HEADER_SIZE:
            header = read_header(data, position)
            if header.size > len(data) - position:
                break
            if header.base_offset >= start:
                yield (
                    header.base_offset,
                    (header.last_offset, header.partition_leader_epoch, header.crc),
                )
            position += header.size
            offset = header.next_offset
        if not position:
            return
