"""A well-behaved client that works on while others misbehave, and notes how long it is kept waiting."""

import threading
import time
from typing import Self

from compat.server_process import wait_until
from e2e.conversation import create_topic, fetch, produce_values
from e2e.wire import WireClient

PAUSE_S = 0.005


class Bystander:
    def __init__(self, port: int, topic: str) -> None:
        self.waits_s: list[float] = []
        self.failure: Exception | None = None
        self._topic = topic
        self._client = WireClient(port)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        try:
            create_topic(self._client, self._topic)
        except BaseException:
            self._client.close()
            raise
        self._thread.start()
        wait_until(lambda: bool(self.waits_s) or self.failure is not None, "the bystander is at work")
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        self._client.close()

    @property
    def worst_wait_s(self) -> float:
        return max(self.waits_s)

    def _run(self) -> None:
        try:
            while not self._is_over.wait(PAUSE_S):
                start = time.monotonic()
                offset = produce_values(self._client, self._topic, [b"still here"])
                answer = fetch(self._client, self._topic, offset)
                assert answer.error_code == 0 and b"still here" in bytes(answer.records)
                self.waits_s.append(time.monotonic() - start)
        except Exception as failure:  # noqa: BLE001  The test's thread raises it.
            self.failure = failure
