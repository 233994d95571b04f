"""The interface of a group, whichever protocol its members speak."""

from typing import Protocol

from moldau.broker.group.offsets.committed import Retention
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.list_groups import ListedGroup


class Group(Protocol):
    @property
    def group_id(self) -> str: ...

    @property
    def is_empty(self) -> bool:
        """Has no members, and so can be deleted."""

    @property
    def is_forgettable(self) -> bool:
        """Whether the group can be removed once it has no offsets."""

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
        """The error if the sender of an OffsetCommit or TxnOffsetCommit may not commit."""

    def session_restarted_ms(self, member_id: str) -> int | None:
        """The session timeout to restart after a commit of this member; None if a commit does not restart
        it."""

    def fetch_error(self, member_id: str | None, member_epoch: int) -> ErrorCode: ...

    def offset_delete_error(self) -> ErrorCode: ...

    def subscribes_to(self, topic: str) -> bool: ...

    def retention(self) -> Retention | None: ...
