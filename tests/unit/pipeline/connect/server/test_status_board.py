"""What the status topic says."""

from moldau.pipeline.connect.server.state.status_board import StatusBoard
from moldau.pipeline.connect.server.state.status_records import (
    State,
    Status,
    TaskKey,
    UsedTopic,
    connector_status_record,
    task_status_record,
    topic_record,
    topic_tombstone,
)

RUNNING = Status(State.RUNNING, "worker:8083", 3, version="1")


def test_states_and_topics_come_and_go() -> None:
    board = StatusBoard()
    used = UsedTopic("lines", "my-orders")
    for record in (
        connector_status_record("my-orders", RUNNING),
        task_status_record(TaskKey("my-orders", 10), RUNNING),
        task_status_record(TaskKey("my-orders", 2), RUNNING),
        topic_record(used, 0, 1),
        (b"status-connector-other", b"nonsense"),
        (b"something else", b"{}"),
    ):
        board.replay(*record, 0)
    assert board.connectors == {"my-orders": RUNNING}
    assert list(board.tasks_of("my-orders")) == [2, 10]
    assert board.topics_of("my-orders") == ["lines"]
    for record in (
        connector_status_record("my-orders", None),
        task_status_record(TaskKey("my-orders", 2), None),
        topic_tombstone(used),
    ):
        board.replay(*record, 0)
    assert (board.connectors, list(board.tasks_of("my-orders")), board.topics_of("my-orders")) == (
        {},
        [10],
        [],
    )


def test_the_formats_are_those_of_kafka_connect() -> None:
    assert connector_status_record("a", Status(State.FAILED, "w:1", 7, "why")) == (
        b"status-connector-a",
        b'{"state":"FAILED","trace":"why","worker_id":"w:1","generation":7,"version":null}',
    )
    assert topic_record(UsedTopic("t", "a"), 1, 5) == (
        b"status-topic-t:connector-a",
        b'{"topic":{"name":"t","connector":"a","task":1,"discoverTimestamp":5}}',
    )
