"""What the coordinator of consumer groups has to know of topics. It asks; somebody else owns them."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from moldau.core.ids import TopicId


class TopicInfo(NamedTuple):
    topic_id: TopicId
    partition_count: int


class TopicView(Protocol):
    @property
    def version(self) -> int:
        """Moves whenever a topic is made, deleted or given more partitions."""

    def find(self, name: str) -> TopicInfo | None: ...

    def name_of(self, topic_id: TopicId) -> str | None: ...

    def names(self) -> Iterable[str]:
        """Those a pattern may choose from: internal topics are not among them."""


class NoTopics:
    """For a coordinator of classic groups alone."""

    version = 0

    def find(self, name: str) -> TopicInfo | None:
        return None

    def name_of(self, topic_id: TopicId) -> str | None:
        return None

    def names(self) -> Iterable[str]:
        return ()
