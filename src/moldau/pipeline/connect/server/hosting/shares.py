"""Which connectors and tasks belong to which share of the work. Pure.

There are as many shares as the offsets topic has partitions. The group protocol gives each to one worker. The tasks of
a connector are in consecutive shares, so that they are spread over workers.
"""

from collections.abc import Collection, Sequence
from zlib import crc32

from moldau.pipeline.connect.server.state.config_records import Texts


class Shares:
    """Those of this worker."""

    def __init__(self, count: int, owned: Collection[int]) -> None:
        self.count = max(count, 1)
        self.owned = frozenset(owned)

    @classmethod
    def everything(cls) -> "Shares":
        return cls(1, (0,))

    def has_connector(self, name: str) -> bool:
        return self._first(name) in self.owned

    def has_task(self, name: str, number: int) -> bool:
        return (self._first(name) + 1 + number) % self.count in self.owned

    def tasks(self, name: str, tasks: Sequence[Texts]) -> dict[int, Texts]:
        """Of a connector, those that run here."""
        return {number: config for number, config in enumerate(tasks) if self.has_task(name, number)}

    def _first(self, name: str) -> int:
        return crc32(name.encode()) % self.count
