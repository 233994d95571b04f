"""What a task has received of a server: waiting, handed out, written to Kafka, acknowledged. No I/O, but two threads.

The network's thread adds, the task's thread takes. A message is acknowledged when it is in Kafka. A server sends what
was not acknowledged again when the connection is made again; a message that is still here is not taken twice.
"""

import threading
import time
from collections import deque
from typing import NamedTuple


class Received(NamedTuple):
    topic: str
    payload: bytes
    mid: int
    """The server's number of the message, until it is acknowledged. 0 with QoS 0."""
    qos: int
    is_retained: bool
    is_duplicate: bool
    session: int = 0
    at_ms: int = 0


class Inbox:
    def __init__(self, count_max: int) -> None:
        self._count_max = count_max
        self._changed = threading.Condition()
        self._waiting: deque[Received] = deque()
        self._handed_out: list[Received] = []
        self._unacknowledged: dict[int, bool] = {}
        """By number: whether the message is in Kafka, so that only its acknowledgement is missing."""
        self._session = 0
        self._is_closed = False

    def begin_session(self, *, is_resumed: bool) -> None:
        """A connection was made. In a new session the numbers of the messages begin again."""
        with self._changed:
            self._is_closed = False
            if not is_resumed:
                self._session += 1
                self._unacknowledged.clear()

    def add(self, message: Received) -> bool:
        """True if the message is to be acknowledged at once: it was written before. Waits while the inbox is full."""
        with self._changed:
            if message.qos and message.is_duplicate and message.mid in self._unacknowledged:
                is_written = self._unacknowledged[message.mid]
                if is_written:
                    del self._unacknowledged[message.mid]
                return is_written
            while len(self._waiting) >= self._count_max and not self._is_closed:
                self._changed.wait()
            if self._is_closed and message.qos:
                # The server sends it again.
                return False
            if message.qos:
                self._unacknowledged[message.mid] = False
            self._waiting.append(message._replace(session=self._session))
            self._changed.notify_all()
        return False

    def close(self) -> None:
        """The connection ends: nobody waits for space any more."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def wake(self) -> None:
        """Something happened to the connection: who waits for messages looks at it."""
        with self._changed:
            self._changed.notify_all()

    def take(self, count_max: int, wait_s: float) -> list[Received]:
        with self._changed:
            if not self._waiting and wait_s > 0:
                self._changed.wait(wait_s)
            taken = [self._waiting.popleft() for _ in range(min(count_max, len(self._waiting)))]
            self._handed_out += taken
            self._changed.notify_all()
        return taken

    def committed(self) -> None:
        """What was handed out is in Kafka."""
        with self._changed:
            for one in self._handed_out:
                if one.qos and one.session == self._session and one.mid in self._unacknowledged:
                    self._unacknowledged[one.mid] = True
            self._handed_out.clear()

    def next_to_acknowledge(self) -> int | None:
        """Forgets the message: the server may use its number again as soon as it has the acknowledgement."""
        with self._changed:
            mid = next((mid for mid, is_written in self._unacknowledged.items() if is_written), None)
            if mid is not None:
                del self._unacknowledged[mid]
            return mid


def now_ms() -> int:
    return time.time_ns() // 1_000_000
