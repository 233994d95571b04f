"""What is known of groups in the target: which checkpoint is news, and which offsets to commit there. Pure."""

from collections.abc import Mapping

from moldau.pipeline.connect.connectors.mirror.cluster import Committed, Place
from moldau.pipeline.connect.connectors.mirror.formats import Checkpoint


class GroupCheckpoints:
    def __init__(self) -> None:
        self._groups: dict[str, dict[Place, Checkpoint]] = {}

    def take(self, checkpoint: Checkpoint) -> bool:
        """Whether it is news. A group that goes on at the source goes on in the target too, and never back; unless it
        has gone back at the source."""
        group = self._groups.setdefault(checkpoint.group, {})
        place = checkpoint.topic, checkpoint.partition
        last = group.get(place)
        is_news = (
            last is None or checkpoint.upstream < last.upstream or checkpoint.downstream > last.downstream
        )
        if is_news:
            group[place] = checkpoint
        return is_news

    def replay(self, checkpoint: Checkpoint) -> None:
        """One that was written by an earlier task."""
        self._groups.setdefault(checkpoint.group, {})[checkpoint.topic, checkpoint.partition] = checkpoint

    def groups(self) -> list[str]:
        return list(self._groups)

    def to_commit(self, group: str, committed: Mapping[Place, Committed]) -> dict[Place, Committed]:
        """Where the target's group is behind. `committed` is what it has there."""
        return {
            place: Committed(one.downstream, one.metadata)
            for place, one in self._groups.get(group, {}).items()
            if place not in committed or committed[place].offset < one.downstream
        }
