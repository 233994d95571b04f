"""GlobalKTable: a whole topic, with every partition, that every task can read."""

from typing import Generic

from moldau.pipeline.serdes.kinds import K, V
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.draft import Draft


class GlobalKTable(Generic[K, V]):
    """For lookups only: join a stream with it, or read its store in a processor."""

    def __init__(
        self, draft: Draft, node: str, key_serde: Serde[K], value_serde: Serde[V], store: str
    ) -> None:
        self._draft = draft
        self.node = node
        self.key_serde = key_serde
        self.value_serde = value_serde
        self.store = store
