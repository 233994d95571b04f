"""What a cluster member needs of the process it runs in."""

from collections.abc import Callable
from dataclasses import dataclass

from moldau.cluster.peer_network import PeerNetwork
from moldau.coordination.image_updater import HandOver
from moldau.core.ports import FileSystem, Scheduler
from moldau.storage.segments.segment import RetiredSegment

RemoveLater = Callable[[RetiredSegment, int], None]
"""Deletes a segment's files after so many milliseconds."""


@dataclass(frozen=True, slots=True)
class Environment:
    scheduler: Scheduler
    store_thread: Scheduler
    """Runs its jobs one at a time, in order."""
    hand_over: HandOver
    network: PeerNetwork
    files: FileSystem
    boot_id: str
    """Changes with every boot of the machine."""
    remove_later: RemoveLater
