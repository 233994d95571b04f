"""How a leader handles an ISR write whose outcome is not known at once."""

from cluster_kit import TreeKit, TurnClock
from log_kit import new_log
from moldau.broker.fetch.parked_fetches import ParkedFetches
from moldau.broker.hosting.hosted_partitions import Partition
from moldau.cluster.isr_writer import READ_AGAIN_MS, StoreIsrWriter
from moldau.cluster.leading import PartitionLeading
from moldau.cluster.replication.in_sync import IsrProposed
from moldau.cluster.replication.throttle import ReplicationThrottle
from moldau.coordination.partition_states import write_isr
from moldau.core.ids import BrokerId, TopicPartition
from moldau.testing.simulation.crash_disk import CrashDisk

PLACE = TopicPartition("t", 0)
ONE, TWO, THREE = (BrokerId(each) for each in (1, 2, 3))


class NeverWritten:
    """Implements `leading.IsrWriter`: the write never completes."""

    def write(
        self, leading: PartitionLeading, isr: tuple[BrokerId, ...], isr_epochs: tuple[int, ...]
    ) -> None:
        return


class Leader:
    """Broker 1 leads `t-0`, with 2 and 3 in sync."""

    def __init__(self) -> None:
        self.kit = TreeKit()
        self.kit.start(1, 2, 3)
        self.kit.topic("t", [(1, 2, 3)])
        self.clock = TurnClock()
        self.session = self.kit.tree.connect()
        self.writer = StoreIsrWriter(self.session, self.clock)
        topic = self.kit.image().topics["t"]
        _, log = new_log(CrashDisk())
        partition = Partition("t", topic.topic_id, 0, log, 0)
        self.leading = PartitionLeading(
            ONE,
            partition,
            log,
            (ONE, TWO, THREE),
            topic.state(0),
            alive=frozenset(),
            clock=self.clock,
            scheduler=self.clock,
            parked_fetches=ParkedFetches(self.clock),
            writer=NeverWritten(),
            lag_ms_max=lambda: 1000,
            racks=dict,
            throttle=ReplicationThrottle(lambda: 1, 1, 1),
        )

    def propose(self, *isr: BrokerId) -> None:
        self.leading.in_sync.replay(IsrProposed(isr))

    def write(self, *isr: BrokerId) -> None:
        self.propose(*isr)
        self.writer.write(self.leading, isr, self.leading.state.isr_epochs[: len(isr)])
        self.clock.advance(0)


def test_what_could_not_be_written_is_given_up_when_the_store_says_so() -> None:
    leader = Leader()
    leader.session.disconnect()
    leader.write(ONE, TWO)
    leader.clock.advance(READ_AGAIN_MS)
    assert leader.leading.in_sync.is_waiting, "nobody has told what holds"
    leader.session.reconnect()
    leader.clock.advance(READ_AGAIN_MS)
    assert not leader.leading.in_sync.is_waiting
    assert leader.leading.in_sync.isr == (ONE, TWO, THREE)


def test_what_somebody_else_wrote_holds() -> None:
    leader = Leader()
    before = leader.leading.state
    write_isr(leader.kit.store, PLACE, before, (ONE, THREE), before.isr_epochs[:2])
    leader.write(ONE, TWO)
    assert not leader.leading.in_sync.is_waiting
    assert leader.leading.in_sync.isr == (ONE, THREE)


def test_looking_after_an_old_change_says_nothing_of_a_newer_one() -> None:
    """Until the fate of the newer one is known, those it takes in are waited for."""
    leader = Leader()
    before = leader.leading.state
    leader.session.disconnect()
    leader.write(ONE, TWO)
    shrunk = write_isr(leader.kit.store, PLACE, before, (ONE, TWO), before.isr_epochs[:2])
    leader.leading.isr_written(shrunk)
    leader.propose(ONE, TWO, THREE)
    leader.session.reconnect()
    leader.clock.advance(READ_AGAIN_MS)
    assert leader.leading.in_sync.is_waiting
    assert leader.leading.in_sync.counted == {ONE, TWO, THREE}
