"""Adapts the catalog to the `TopicView` of the group coordinator."""

from collections.abc import Iterable

from moldau.broker.group.consumer.topic_view import TopicInfo
from moldau.broker.topics.catalog import TopicCatalog
from moldau.core.ids import TopicId


class CatalogTopics:
    def __init__(self, catalog: TopicCatalog) -> None:
        self._catalog = catalog

    @property
    def version(self) -> int:
        return self._catalog.epoch

    def find(self, name: str) -> TopicInfo | None:
        entry = self._catalog.find(name)
        return None if entry is None else TopicInfo(entry.topic_id, len(entry.partitions))

    def name_of(self, topic_id: TopicId) -> str | None:
        entry = self._catalog.find_by_id(topic_id)
        return None if entry is None else entry.name

    def names(self) -> Iterable[str]:
        return (entry.name for entry in self._catalog.topics() if not entry.is_internal)
