"""What a run would change in the checkpoint, without changing it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka.admin import AdminClient

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.checkpoint.application_record import ApplicationRecord, check_topics
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.driver.topics import require_inputs
from moldau.pipeline.spark.settings import AppSettings, OnChange
from moldau.pipeline.spark.topic_offsets import topic_facts
from moldau.pipeline.spark.upgrades.comparison import Change, compare
from moldau.pipeline.spark.upgrades.inventory import Inventory
from moldau.pipeline.spark.upgrades.upgrading import Upgrading

NOTHING = Inventory({}, {}, (), ())


@dataclass(frozen=True)
class Preview:
    application_id: str
    choice: OnChange
    changes: Sequence[Change]
    summary: str
    refused: str | None
    """Why a run would not start."""

    def as_json(self) -> dict[str, Any]:
        return {
            "application": self.application_id,
            "summary": self.summary,
            "refused": self.refused,
            "changes": [
                {
                    "kind": one.kind,
                    "name": one.name,
                    "fate": str(one.fate),
                    "details": one.details,
                    "asks": one.asks,
                    "outcome": one.outcome(self.choice),
                    "can_be_kept": one.can_be_kept,
                }
                for one in self.changes
            ],
        }


def preview(admin: AdminClient, settings: AppSettings, topology: Topology) -> Preview:
    """Raises ConfigError for a checkpoint that cannot be compared and for a missing topic, TimeoutError if no broker
    answers."""
    topology = require_inputs(admin, topology, settings.bootstrap_servers)
    name = settings.application_id
    record = ApplicationRecord.load(Folder(settings.folder), name)
    if record is None:
        changes = compare(NOTHING, topology, {}).changes
        return Preview(
            name,
            settings.on_change,
            changes,
            f"{name} has no checkpoint in {settings.folder}: it starts from the beginning",
            None,
        )
    upgrading = Upgrading(admin, settings, record, topology)
    upgrade = upgrading.upgrade
    summary = (
        f"{name}: the next run upgrades the checkpoint to the changed topology"
        if upgrade.is_needed
        else f"{name}: no change concerns the checkpoint"
    )
    try:
        upgrade.require(name, settings.on_change)
        check_topics(name, upgrading.still_read, topic_facts(admin, upgrading.still_read))
        upgrading.require_whole()
    except ConfigError as refused:
        return Preview(
            name, settings.on_change, upgrade.changes, f"{name}: a run would not start", str(refused)
        )
    return Preview(name, settings.on_change, upgrade.changes, summary, None)
