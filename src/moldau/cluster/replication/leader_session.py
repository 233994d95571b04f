"""The follower's side of a fetch session (KIP-227): what the leader knows and must be told next. Pure."""

from typing import Final, NamedTuple

from moldau.core.ids import TopicId

PartitionKey = tuple[TopicId, int]
NEW_SESSION: Final = 0
EPOCH_MAX: Final = 2**31 - 1


class FetchPosition(NamedTuple):
    """What a fetch asks for of one partition."""

    leader_epoch: int
    offset: int
    last_epoch: int
    """Of the last record of our log."""
    start_offset: int


class LeaderSession:
    """One session. With a leader that keeps no session, each fetch is a full one."""

    __slots__ = ("_sent", "epoch", "session_id")

    def __init__(self) -> None:
        self.session_id = 0
        self.epoch = NEW_SESSION
        self._sent: dict[PartitionKey, FetchPosition] = {}

    @property
    def is_new(self) -> bool:
        return self.epoch == NEW_SESSION

    def begin(self) -> None:
        """Begins a new session: the leader knows no positions."""
        self.session_id = 0
        self.epoch = NEW_SESSION
        self._sent.clear()

    def update(self, key: PartitionKey, position: FetchPosition | None) -> bool:
        """Whether the next fetch must name the partition because its position changed. None: not fetched at all."""
        before = self._sent.get(key)
        if position is None:
            self._sent.pop(key, None)
        else:
            self._sent[key] = position
        return position != before

    def position(self, key: PartitionKey) -> FetchPosition | None:
        """The position the leader knows."""
        return self._sent.get(key)

    def answered(self, session_id: int) -> None:
        """The leader has accepted a fetch; a `session_id` of 0 means that it keeps no session."""
        self.session_id = session_id
        if not session_id:
            self.epoch = NEW_SESSION
        else:
            self.epoch = 1 if self.epoch == EPOCH_MAX else self.epoch + 1
