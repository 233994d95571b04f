"""The follower's side of a fetch session (KIP-227): what the leader was told, and so what it must hear next. Pure."""

from typing import Final, NamedTuple

from moldau.core.ids import TopicId

PartitionKey = tuple[TopicId, int]
NEW_SESSION: Final = 0
EPOCH_MAX: Final = 2**31 - 1


class FetchPosition(NamedTuple):
    """What the leader is asked for of one partition."""

    leader_epoch: int
    offset: int
    last_epoch: int
    """Of the last record we have."""
    start_offset: int


class FollowerSession:
    """One session. A leader that keeps none is told everything each time."""

    __slots__ = ("_told", "epoch", "session_id")

    def __init__(self) -> None:
        self.session_id = 0
        self.epoch = NEW_SESSION
        self._told: dict[PartitionKey, FetchPosition] = {}

    @property
    def is_new(self) -> bool:
        return self.epoch == NEW_SESSION

    def begin(self) -> None:
        """A new session: the leader knows nothing of what it was told in the last."""
        self.session_id = 0
        self.epoch = NEW_SESSION
        self._told.clear()

    def tell(self, key: PartitionKey, asked: FetchPosition | None) -> bool:
        """Whether the leader must hear of it, for it was told something else; None is nothing at all."""
        before = self._told.get(key)
        if asked is None:
            self._told.pop(key, None)
        else:
            self._told[key] = asked
        return asked != before

    def told(self, key: PartitionKey) -> FetchPosition | None:
        return self._told.get(key)

    def answered(self, session_id: int) -> None:
        """The leader has taken note, under this number; 0 if it keeps no session."""
        self.session_id = session_id
        if not session_id:
            self.epoch = NEW_SESSION
        else:
            self.epoch = 1 if self.epoch == EPOCH_MAX else self.epoch + 1
