"""The pure machines of replication: the high watermark is what all in sync have, and logs meet where they part."""

from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.cluster.replication.acks import PendingAcks
from moldau.cluster.replication.follower_step import LogEnd, Retry, StartOver, Store, Truncate, decide_step
from moldau.cluster.replication.in_sync import InSyncReplicas, IsrCommitted, IsrProposed, IsrRefused
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import BrokerId, Millis
from moldau.storage.log.epochs import LeaderEpochs

LAG_MS_MAX = 1000
REPLICAS = tuple(map(BrokerId, (1, 2, 3)))
LEADER = REPLICAS[0]


@st.composite
def leader_stories(draw: st.DrawFn) -> list[tuple[str, int, int]]:
    """Appends, fetches, time, and the fate of ISR writes."""
    deed = st.sampled_from(["append", "fetch", "wait", "review", "written", "refused", "gone"])
    return draw(st.lists(st.tuples(deed, st.integers(2, 3), st.integers(0, 1500)), max_size=60))


@settings(max_examples=200, deadline=None)
@given(leader_stories(), st.integers(1, 3))
def test_nothing_is_committed_that_somebody_in_sync_lacks(
    story: list[tuple[str, int, int]], isr_size_min: int
) -> None:
    replicas = InSyncReplicas(LEADER, REPLICAS, REPLICAS, 0, Millis(0))
    replicas.alive = frozenset(REPLICAS)
    stored = dict.fromkeys(REPLICAS, 0)
    now_ms, committed = 0, 0
    proposed: tuple[BrokerId, ...] | None = None
    for deed, number, amount in story:
        who = BrokerId(number)
        match deed:
            case "append":
                stored[LEADER] += 1 + amount % 3
            case "fetch":
                # It asks for what it has not got, and gets some of it.
                replicas.observe_fetch(who, 7, stored[who], stored[LEADER], Millis(now_ms))
                stored[who] = min(stored[LEADER], stored[who] + amount % 4)
            case "wait":
                now_ms += amount
            case "gone":
                replicas.alive = replicas.alive ^ {who}
            case "review":
                wanted = replicas.decide_isr(committed, stored[LEADER], Millis(now_ms), lag_ms_max=LAG_MS_MAX)
                if wanted is not None:
                    proposed = wanted
                    replicas.replay(IsrProposed(wanted))
                    assert LEADER in wanted
            case "written" if proposed is not None:
                replicas.replay(IsrCommitted(proposed))
                proposed = None
            case "refused" if proposed is not None:
                replicas.replay(IsrRefused())
                proposed = None
        offset = replicas.high_watermark(
            stored[LEADER], Millis(now_ms), lag_ms_max=LAG_MS_MAX, isr_size_min=isr_size_min
        )
        committed = max(committed, offset)
        everyone = {*replicas.isr, *(proposed or ())}
        assert all(stored[each] >= committed for each in everyone), (committed, stored, everyone)
        if offset >= 0:
            assert len(replicas.isr) >= isr_size_min


def test_a_follower_that_falls_behind_leaves_and_comes_back() -> None:
    replicas = InSyncReplicas(LEADER, REPLICAS, REPLICAS, 0, Millis(0))
    replicas.alive = frozenset(REPLICAS)
    replicas.observe_fetch(REPLICAS[1], 7, 10, 10, Millis(900))
    assert replicas.decide_isr(0, 10, Millis(1000), lag_ms_max=LAG_MS_MAX) is None
    shrunk = replicas.decide_isr(0, 10, Millis(1001), lag_ms_max=LAG_MS_MAX)
    assert shrunk == (1, 2)
    replicas.replay(IsrProposed(shrunk))
    # Until the store has it, the one who leaves is still waited for.
    assert replicas.high_watermark(10, Millis(1001), lag_ms_max=LAG_MS_MAX, isr_size_min=1) == -1
    replicas.replay(IsrCommitted(shrunk))
    assert replicas.high_watermark(10, Millis(1001), lag_ms_max=LAG_MS_MAX, isr_size_min=1) == 10
    replicas.observe_fetch(REPLICAS[2], 7, 9, 10, Millis(1100))
    assert replicas.decide_isr(10, 10, Millis(1100), lag_ms_max=LAG_MS_MAX) is None
    replicas.observe_fetch(REPLICAS[2], 7, 10, 10, Millis(1200))
    assert replicas.decide_isr(10, 10, Millis(1200), lag_ms_max=LAG_MS_MAX) == (1, 2, 3)
    replicas.alive = frozenset(REPLICAS[:2])
    assert replicas.decide_isr(10, 10, Millis(1200), lag_ms_max=LAG_MS_MAX) is None


def test_what_a_follower_said_before_it_was_restarted_counts_no_more() -> None:
    replicas = InSyncReplicas(LEADER, REPLICAS, REPLICAS[:2], 0, Millis(0))
    replicas.alive = frozenset(REPLICAS)
    joining = REPLICAS[2]
    assert replicas.observe_fetch(joining, 7, 10, 10, Millis(0))
    assert replicas.decide_isr(10, 10, Millis(0), lag_ms_max=LAG_MS_MAX) == REPLICAS
    assert replicas.broker_epoch_of(joining) == 7
    replicas.forget(joining, 9)
    assert replicas.decide_isr(10, 10, Millis(0), lag_ms_max=LAG_MS_MAX) is None
    assert not replicas.observe_fetch(joining, 7, 10, 10, Millis(0)), (
        "this was on its way when the broker died"
    )
    assert not replicas.observe_fetch(joining, -1, 10, 10, Millis(0)), "not registered yet"
    assert replicas.decide_isr(10, 10, Millis(0), lag_ms_max=LAG_MS_MAX) is None
    assert replicas.observe_fetch(joining, 9, 10, 10, Millis(0))
    replicas.forget(joining, 9)
    assert replicas.decide_isr(10, 10, Millis(0), lag_ms_max=LAG_MS_MAX) == REPLICAS
    assert replicas.broker_epoch_of(joining) == 9


Log = list[int]
"""The epoch each offset was written in."""


def epochs_of(log: Log) -> LeaderEpochs:
    epochs = LeaderEpochs()
    for offset, epoch in enumerate(log):
        epochs.assign(epoch, offset)
    return epochs


def log_end(log: Log, epochs: LeaderEpochs) -> LogEnd:
    return LogEnd(len(log), lambda epoch: epochs.end_offset_for(epoch, len(log)))


@st.composite
def parted_logs(draw: st.DrawFn) -> tuple[Log, Log]:
    """A leader's and a follower's log as elections make them: in one epoch only one leader writes, so what two logs
    have of an epoch is the beginning of the same."""
    common = sorted(draw(st.lists(st.integers(0, 3), max_size=6)))
    newest = common[-1] if common else 0
    written = {epoch: draw(st.integers(0, 4)) for epoch in range(newest + 1, newest + 5)}
    # Each epoch's records were written on top of the log of whoever led in it.
    owners = {epoch: draw(st.booleans()) for epoch in written}
    leader, follower = list(common), list(common)
    for epoch, count in written.items():
        (leader if owners[epoch] else follower).extend([epoch] * count)
    return leader, follower


@settings(max_examples=300, deadline=None)
@given(parted_logs())
def test_logs_meet_where_they_part(logs: tuple[Log, Log]) -> None:
    leader, follower = logs
    agreed = next(
        (at for at, pair in enumerate(zip(leader, follower, strict=False)) if pair[0] != pair[1]),
        min(len(leader), len(follower)),
    )
    # The new leader's epoch is known to it before anything is written in it.
    leader_epochs = epochs_of(leader)
    leader_epochs.assign(max([*leader, *follower, 0]) + 1, len(leader))
    for _ in range(20):
        own = epochs_of(follower)
        diverging = leader_epochs.divergence(len(follower), own.latest, len(leader))
        if diverging is None:
            break
        log = log_end(follower, own)
        step = decide_step(log, ErrorCode.NONE, *diverging, 0)
        assert isinstance(step, Truncate)
        assert agreed <= step.offset < len(follower) or step.offset == len(follower)
        follower = follower[: step.offset]
    else:
        raise AssertionError("they never meet")
    assert follower == leader[: len(follower)]
    assert len(follower) == agreed


def test_answers_that_are_no_data() -> None:
    log = LogEnd(10, lambda _: (-1, -1))
    assert decide_step(log, ErrorCode.NONE, -1, -1, 0) == Store()
    assert decide_step(log, ErrorCode.OFFSET_OUT_OF_RANGE, -1, -1, 50) == StartOver(50)
    assert decide_step(log, ErrorCode.OFFSET_OUT_OF_RANGE, -1, -1, 5) == Retry(ErrorCode.OFFSET_OUT_OF_RANGE)
    fenced = ErrorCode.FENCED_LEADER_EPOCH
    assert decide_step(log, fenced, 3, 4, 0) == Retry(fenced)


@given(
    st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=20),
    st.lists(st.integers(0, 25), max_size=5),
)
def test_acks_are_given_once_and_in_order(
    waiting: list[tuple[int, bool]], high_watermarks: list[int]
) -> None:
    acks: PendingAcks[int] = PendingAcks()
    kept = set()
    for token, (end_offset, is_cancelled) in enumerate(waiting):
        handle = acks.add(end_offset, token)
        if is_cancelled:
            acks.cancel(handle)
        else:
            kept.add(token)
    assert len(acks) == len(kept)
    given_: list[int] = []
    for high_watermark in high_watermarks:
        taken = acks.take_committed(high_watermark)
        assert all(waiting[token][0] <= high_watermark for token in taken)
        given_ += taken
    given_ += acks.take_all()
    assert sorted(given_) == sorted(kept)
