"""Who runs what: every connector and task belongs to exactly one worker."""

from moldau.pipeline.connect.server.hosting.shares import Shares

NAMES = [f"connector-{number}" for number in range(40)]


def test_each_connector_and_task_belongs_to_one_worker() -> None:
    workers = [Shares(25, [number for number in range(25) if number % 3 == worker]) for worker in range(3)]
    for name in NAMES:
        assert sum(one.has_connector(name) for one in workers) == 1
        for task in range(30):
            assert sum(one.has_task(name, task) for one in workers) == 1
    assert all(any(one.has_connector(name) for name in NAMES) for one in workers)


def test_the_tasks_of_a_connector_are_spread() -> None:
    worker = Shares(25, range(0, 25, 2))
    assert 4 <= len(worker.tasks("orders", [{}] * 10)) <= 6


def test_a_standalone_worker_has_everything() -> None:
    shares = Shares.everything()
    assert all(shares.has_connector(name) and shares.has_task(name, 7) for name in NAMES)


def test_a_worker_without_shares_has_nothing() -> None:
    assert not any(Shares(25, ()).has_task(name, 0) for name in NAMES)
