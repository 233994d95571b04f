"""Threads of queries that call functions of the user: bounded, and watched. No broker is asked."""

import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from compat.server_process import wait_until
from moldau.pipeline.sql.queries.own_threads import OwnThreads
from moldau.pipeline.sql.queries.row_stream import RowStream
from moldau.pipeline.sql.syntax.errors import SqlError


def test_one_that_blocks_is_told_of_and_holds_its_thread(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "moldau.sql")
    returns = threading.Event()

    def blocked() -> Iterator[Any]:
        returns.wait()
        yield ("late",)

    threads = OwnThreads("127.0.0.1:1", {}, threads_max=1, tell_after_s=0)
    first = RowStream((), query_id="transient_1")
    try:
        threads.hand_over(first, blocked())
        wait_until(lambda: "transient_1 has been at work for" in caplog.text, "the log tells")
        first.close()
        with pytest.raises(SqlError, match="1 of them have ended, but their function has not returned"):
            threads.hand_over(RowStream(()), iter([("x",)]))
    finally:
        returns.set()
    second = RowStream(())

    def is_free() -> bool:
        try:
            threads.hand_over(second, iter([("x",)]))
        except SqlError:
            return False
        return True

    wait_until(is_free, "the thread of the first has ended")
    assert second.read(60) == [("x",)]
    assert second.read(60) is None
    threads.close()
