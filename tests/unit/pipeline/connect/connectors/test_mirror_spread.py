"""Which task of MirrorSource has which partitions."""

from moldau.pipeline.connect.connectors.mirror.source import spread_for_good

TOPICS = [f"topic-{number}" for number in range(20)]


def places(*topics: str, partitions: int = 3) -> list[tuple[str, int]]:
    return [(topic, partition) for topic in topics for partition in range(partitions)]


def tasks_of(shares: list[list[tuple[str, int]]]) -> dict[tuple[str, int], int]:
    return {place: task for task, share in enumerate(shares) for place in share}


def test_a_partition_keeps_its_task_when_others_come_and_go() -> None:
    before = tasks_of(spread_for_good(places(*TOPICS[5:10]), 4))
    for topics in (TOPICS, TOPICS[5:], TOPICS[:10], TOPICS[5:10][::-1]):
        now = tasks_of(spread_for_good(places(*topics, partitions=5), 4))
        assert {place: now[place] for place in before} == before


def test_each_partition_has_one_task_and_a_topic_is_spread_evenly() -> None:
    shares = spread_for_good(places("orders", partitions=12), 4)
    assert [len(share) for share in shares] == [3, 3, 3, 3]
    assert sorted(tasks_of(shares)) == places("orders", partitions=12)
    many = spread_for_good(places(*TOPICS), 4)
    assert sum(map(len, many)) == 60
    assert all(many)


def test_no_more_tasks_than_are_needed() -> None:
    assert spread_for_good([], 3) == []
    assert spread_for_good([("orders", 0)], 1) == [[("orders", 0)]]
    shares = spread_for_good([("orders", 0)], 4)
    assert shares[-1] == [("orders", 0)]
    assert not any(shares[:-1])
