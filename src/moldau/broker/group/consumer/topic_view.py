"""The port through which the group coordinator looks up topics."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from moldau.core.ids import TopicId


class TopicInfo(NamedTuple):
    topic_id: TopicId
    partition_count: int


class TopicView(Protocol):
    @property
    def version(self) -> int:
        """Grows when a topic is created, deleted or given more partitions."""

    def find(self, name: str) -> TopicInfo | None: ...

    def name_of(self, topic_id: TopicId) -> str | None: ...

    def names(self) -> Iterable[str]:
        """The topics a pattern may match; internal topics are left out."""


class NoTopics:
    """For a coordinator of classic groups only."""

    version = 0

    def find(self, name: str) -> TopicInfo | None:
        return None

    def name_of(self, topic_id: TopicId) -> str | None:
        return None

    def names(self) -> Iterable[str]:
        return ()
