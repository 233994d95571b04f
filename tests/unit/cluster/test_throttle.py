"""The replication throttle."""

from moldau.cluster.replication.throttle import ReplicationThrottle, is_throttled

SAMPLES, SAMPLE_MS = 11, 1000
RATE = 1000


def throttle(rate: int = RATE) -> ReplicationThrottle:
    return ReplicationThrottle(lambda: rate, SAMPLES, SAMPLE_MS)


def test_replicas_are_named_by_partition_and_broker_or_all_together() -> None:
    assert is_throttled(("0:1", "1:2"), 1, 2)
    assert not is_throttled(("0:1", "1:2"), 1, 1)
    assert is_throttled(("*",), 7, 9)
    assert not is_throttled((), 0, 1)


def test_what_was_copied_counts_for_as_long_as_the_window() -> None:
    copied = throttle()
    assert not copied.is_exceeded(0)
    copied.record(RATE * 10, 0)
    assert not copied.is_exceeded(0), "as much as ten seconds' worth may pass at once"
    copied.record(1, 0)
    assert copied.is_exceeded(0)
    assert not copied.is_exceeded(10_999)
    copied.record(RATE * 20, 10_999)
    assert copied.is_exceeded(20_000)
    assert not copied.is_exceeded(22_000), "by then the window holds nothing of it"


def test_over_time_no_more_than_the_rate_is_copied() -> None:
    copied, total = throttle(), 0
    for now_ms in range(0, 100_000, 100):
        if not copied.is_exceeded(now_ms):
            copied.record(500, now_ms)
            total += 500
    assert 90 * RATE <= total <= 111 * RATE


def test_a_rate_may_be_changed_at_any_time() -> None:
    rate = 1
    copied = ReplicationThrottle(lambda: rate, SAMPLES, SAMPLE_MS)
    copied.record(1000, 0)
    assert copied.is_exceeded(0)
    rate = 10_000
    assert not copied.is_exceeded(0)


def test_nothing_passes_at_a_rate_of_zero_after_the_first() -> None:
    copied = throttle(0)
    assert not copied.is_exceeded(0)
    copied.record(1, 0)
    assert copied.is_exceeded(0)
