"""Topics that are there because a test says so."""

from collections.abc import Iterable

from moldau.broker.group.consumer.topic_view import TopicInfo
from moldau.core.ids import TopicId


class FakeTopics:
    def __init__(self) -> None:
        self.version = 0
        self._topics: dict[str, TopicInfo] = {}
        self._names: dict[TopicId, str] = {}
        self.hidden: set[str] = set()
        """From patterns; the version does not tell."""

    def put(self, name: str, partition_count: int) -> None:
        """Makes it, or gives it more partitions."""
        self.version += 1
        known = self._topics.get(name)
        topic_id = known.topic_id if known else TopicId(f"{name}{self.version}".encode().ljust(16, b"\0"))
        self._topics[name] = TopicInfo(topic_id, partition_count)
        self._names[topic_id] = name

    def remove(self, name: str) -> None:
        self.version += 1
        self._names.pop(self._topics.pop(name).topic_id)

    def find(self, name: str) -> TopicInfo | None:
        return self._topics.get(name)

    def name_of(self, topic_id: TopicId) -> str | None:
        return self._names.get(topic_id)

    def names(self) -> Iterable[str]:
        return self._topics.keys() - self.hidden

    def shown(self, topics: Iterable[tuple[TopicId, Iterable[int]]]) -> str:
        """`t:0,1 u:3`"""
        words = [
            f"{self._names.get(topic_id, 'gone')}:{','.join(map(str, partitions))}"
            for topic_id, partitions in topics
        ]
        return " ".join(words) or "nothing"
