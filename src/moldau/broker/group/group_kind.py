"""What the shard asks of a group without caring which protocol its members speak."""

from typing import Protocol

from moldau.broker.group.offsets.committed import Retention
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.list_groups import ListedGroup


class Group(Protocol):
    @property
    def group_id(self) -> str: ...

    @property
    def is_empty(self) -> bool:
        """Without members. Deleting needs no more."""

    @property
    def is_forgettable(self) -> bool:
        """Whether nothing but offsets speaks for keeping it."""

    def listed(self) -> ListedGroup: ...

    def commit_error(
        self,
        member_id: str,
        instance_id: str | None,
        generation_id: int,
        *,
        transactional: bool,
        version: int,
    ) -> ErrorCode:
        """Whether the sender of an OffsetCommit or TxnOffsetCommit may."""

    def session_restarted_ms(self, member_id: str) -> int | None:
        """The session timeout that an accepted commit of this member starts anew, if it does."""

    def fetch_error(self, member_id: str | None, member_epoch: int) -> ErrorCode: ...

    def offset_delete_error(self) -> ErrorCode: ...

    def subscribes_to(self, topic: str) -> bool: ...

    def retention(self) -> Retention | None: ...
