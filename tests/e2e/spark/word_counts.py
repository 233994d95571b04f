"""Lines for `apps/word_count.py`, and whether each word of them was counted once."""

from collections import Counter

from e2e.spark.kit import Sent, committed, create_topics, send

LINES, COUNTS = "cluster-lines", "cluster-counts"


class WordCounts:
    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._words = Counter[str]()
        self._lines_sent = 0
        create_topics(servers, cluster_lines=2, cluster_counts=2)

    def send_lines(self, count: int) -> None:
        numbers = range(self._lines_sent, self._lines_sent + count)
        lines = [f"w{number % 9} all" for number in numbers]
        self._lines_sent += count
        self._words.update(word for line in lines for word in line.split())
        send(self._servers, LINES, [Sent(str(number), line) for number, line in enumerate(lines)])

    def are_complete(self) -> bool:
        return len(committed(self._servers, COUNTS)) >= self._words.total()

    def require_each_once(self) -> None:
        records = committed(self._servers, COUNTS)
        assert len(records) == self._words.total()
        assert set(Counter((one.key, one.value) for one in records).values()) == {1}
        last = {one.key.decode(): int.from_bytes(one.value) for one in records if one.key and one.value}
        assert last == self._words
