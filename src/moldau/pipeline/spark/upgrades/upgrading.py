"""The upgrade of one application: compares topology, checkpoint and brokers, and carries the upgrade out.

`moldau streams plan` only shows it; a run also finishes it.
"""

from collections.abc import Mapping
from dataclasses import replace

from confluent_kafka.admin import AdminClient

from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.checkpoint.application_record import ApplicationRecord
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.driver.takeover import Markers, fence, group_markers, require_own_group
from moldau.pipeline.spark.partitioners import DEFAULT
from moldau.pipeline.spark.planning.ledger import Ledger
from moldau.pipeline.spark.planning.planner import Plan
from moldau.pipeline.spark.positions import Positions, distance
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.spark.topic_offsets import TopicFacts, end_offsets, topic_facts
from moldau.pipeline.spark.upgrades.carrying_out import Reached, carry_out, reached
from moldau.pipeline.spark.upgrades.comparison import Upgrade, compare
from moldau.pipeline.spark.upgrades.whole_state import require_whole


class Upgrading:
    def __init__(
        self, admin: AdminClient, settings: AppSettings, record: ApplicationRecord, topology: Topology
    ) -> None:
        """Changes nothing. Raises ConfigError for a checkpoint that does not say what it holds."""
        record.check_form(settings.application_id, topology.fingerprint)
        self._admin, self._settings = admin, settings
        self._folder = Folder(settings.folder)
        self._record = record if record.inventory is not None else record.with_inventory(topology)
        self._is_new_form = record.inventory is None
        self._given = topology
        self.upgrade = self._compared()

    @property
    def topology(self) -> Topology:
        return self.upgrade.topology

    @property
    def still_read(self) -> dict[str, str]:
        """Topic to the id that the checkpoint knows."""
        now = set(self.upgrade.after.source_topics)
        return {topic: one for topic, one in self._record.topic_ids.items() if topic in now}

    @property
    def settled_partitioners(self) -> dict[str, str]:
        """The partitioners of the internal topics that stay: their records are already distributed."""
        stay = self.upgrade.after.topics.keys() & self._record.topic_ids.keys()
        return {topic: self._record.partitioners.get(topic, DEFAULT) for topic in stay}

    def decide(self) -> None:
        """Raises ConfigError when `on_change` does not cover what has changed. Ends the runs before this one first:
        what they had not committed stays so."""
        if self.upgrade.is_needed:
            fence(self._settings, self._record.slots, self.upgrade.before.topics)
            self.upgrade = self._compared()
        self.upgrade.require(self._settings.application_id, self._settings.on_change)

    def begin(self) -> list[str]:
        """Topics that do not continue from the position in the checkpoint."""
        return [
            topic for topic in self.upgrade.after.source_topics if topic not in self._record.topic_ids
        ] + (self.upgrade.skipped_topics(self._settings.on_change))

    def unchanged(self) -> ApplicationRecord:
        """The record, if no upgrade is needed."""
        self.require_whole()
        if self._is_new_form:
            self._record.save(self._folder)
        return self._record

    def finish(
        self, facts: Mapping[str, TopicFacts], begin: Positions, partitioners: Mapping[str, str]
    ) -> ApplicationRecord:
        """Carries the upgrade out and returns the new record. `begin`: first positions of topics that start over."""
        self.require_whole()
        return carry_out(
            self.upgrade,
            self._settings.on_change,
            replace(self._record, partitioners=partitioners),
            self._reached(),
            begin,
            {topic: one.topic_id for topic, one in facts.items()},
            self._folder,
        )

    def require_whole(self) -> None:
        """Raises ConfigError if part of the checkpoint is missing or belongs to another application."""
        markers = self._markers()
        plan = self._plan()
        known = -1 if plan is None else plan.batch_id
        require_own_group(markers, self._settings, self._record.checkpoint_id, known)
        require_whole(self._record, markers, self._folder)

    def _plan(self) -> Plan | None:
        return Ledger(self._folder.within("plans")).last()

    def _markers(self) -> Markers:
        return group_markers(self._admin, self._settings.application_id)

    def _reached(self) -> Reached:
        # In this order, because the application may be running: each marker is of a batch that was planned before.
        markers = self._markers()
        return reached(self._record, self._plan(), markers)

    def _compared(self) -> Upgrade:
        assert self._record.inventory is not None
        return compare(self._record.inventory, self._given, self._unread(self._reached()))

    def _unread(self, so_far: Reached) -> dict[str, int]:
        assert self._record.inventory is not None
        facts = topic_facts(self._admin, self._record.inventory.topics)
        ends = end_offsets(self._admin, {topic: one.partitions for topic, one in facts.items()})
        return {
            topic: distance({topic: so_far.positions.get(topic, {})}, {topic: partitions})
            for topic, partitions in ends.items()
        }
