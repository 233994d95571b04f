"""Rules of replication left out on purpose: a simulation that does not notice is worth nothing."""

from collections.abc import Callable
from typing import Any, Final

from moldau.cluster import follower_logs
from moldau.cluster.leading import PartitionLeading
from moldau.cluster.replication.follower_step import Step, Store, Truncate, decide_step
from moldau.cluster.replication.in_sync import InSyncReplicas
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import BrokerId


def _commit_alone() -> None:
    """What the leader has counts as committed."""

    def high_watermark(self: InSyncReplicas, leader_end_offset: int, *_: Any, **__: Any) -> int:
        return leader_end_offset

    InSyncReplicas.high_watermark = high_watermark  # type: ignore[method-assign]


def _join_behind() -> None:
    """A follower is in sync as soon as it fetches, however far behind."""

    def decide_isr(self: InSyncReplicas, *_: Any, **__: Any) -> tuple[BrokerId, ...] | None:
        wanted = (
            *self.isr,
            *(each for each in self._followers if each not in self.isr and each in self.alive),
        )
        return None if self.is_waiting or wanted == self.isr else wanted

    InSyncReplicas.decide_isr = decide_isr  # type: ignore[method-assign]
    InSyncReplicas.counted = property(lambda self: frozenset([self._leader]))  # type: ignore[assignment, method-assign]


def _never_cut() -> None:
    """A follower keeps what its leader never had."""

    def decide(*arguments: Any) -> Step:
        step = decide_step(*arguments)
        return Store() if isinstance(step, Truncate) else step

    follower_logs.decide_step = decide  # type: ignore[attr-defined, assignment]


def _answer_early() -> None:
    """acks=all is answered when the leader has it."""

    def when_committed(
        self: PartitionLeading,
        end_offset: int,
        callback: Callable[[ErrorCode], None],
        timeout_ms: int | None = None,
    ) -> None:
        self._scheduler.call_soon(lambda: callback(ErrorCode.NONE))

    PartitionLeading.when_committed = when_committed  # type: ignore[method-assign]


_RULES: Final = {
    "commit-alone": _commit_alone,
    "join-behind": _join_behind,
    "never-cut": _never_cut,
    "answer-early": _answer_early,
}
BROKEN: Final = tuple(_RULES)


def break_rule(name: str) -> None:
    _RULES[name]()
