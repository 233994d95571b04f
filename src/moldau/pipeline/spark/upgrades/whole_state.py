"""Checks that the state of an application is complete before it continues: a deleted folder is not an empty store.

The markers in the group's offsets say which batch each task has committed. Its state must reach that batch without a
gap.
"""

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.checkpoint.application_record import ApplicationRecord
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.checkpoint.state_files import CURE, START, StateFiles, StateLost
from moldau.pipeline.spark.upgrades.carrying_out import Markers, partitions_of


def require_whole(record: ApplicationRecord, markers: Markers, folder: Folder) -> None:
    """Raises ConfigError, naming what is missing."""
    assert record.inventory is not None
    state = folder.within("state")
    for part, place in zip(record.inventory.parts, record.places, strict=True):
        if not part.keeps_state:
            continue
        committed: dict[int, int] = dict.fromkeys(partitions_of(state, place.folder), START)
        for (topic, partition), marker in markers.items():
            first = place.since.get(topic)
            if (
                first is not None
                and marker.checkpoint_id == record.checkpoint_id
                and marker.batch_id >= first
            ):
                committed[partition] = max(committed.get(partition, START), marker.batch_id)
        for partition, batch_id in sorted(committed.items()):
            _require(state.within(f"{place.folder}_{partition}"), batch_id, record.application_id)


def _require(folder: Folder, batch_id: int, application_id: str) -> None:
    try:
        version = StateFiles(folder).last_version()
    except StateLost as lost:
        raise ConfigError(f"{application_id}: {lost} (moldau streams reset {application_id})") from None
    if version < batch_id:
        there = "holds nothing" if version == START else f"ends with batch {version}"
        raise ConfigError(
            f"{application_id}: part of its state is missing: the task of {folder.address} has committed batch "
            f"{batch_id}, but the folder {there}: {CURE} (moldau streams reset {application_id})"
        )
