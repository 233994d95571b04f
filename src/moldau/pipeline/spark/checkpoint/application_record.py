"""What a checkpoint knows about its application, besides plans and state: the application's id, its topics, its first
positions, the inventory of its topology and the folders of its state. Rejects a checkpoint that does not fit.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Self

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.nodes import TRANSFORM_IN, TRANSFORM_OUT
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.topic_offsets import TopicFacts
from moldau.pipeline.spark.upgrades.inventory import Inventory

FILE: Final = "application.json"
VERSION: Final = 3
WITHOUT_INVENTORY: Final = 2
BETWEEN: Final = ("-repartition", TRANSFORM_IN, TRANSFORM_OUT)
"""How the names of topics between two sub-topologies end."""


@dataclass(frozen=True)
class StateFolder:
    """Where the state of a sub-topology's tasks is: `state/<folder>_<partition>`."""

    folder: str
    since: Mapping[str, int]
    """Topic to the first batch whose marker refers to this state."""


@dataclass(frozen=True)
class ApplicationRecord:
    application_id: str
    checkpoint_id: str
    fingerprint: str
    """Of the topology that made the checkpoint. Compared where there is no inventory."""
    topic_ids: Mapping[str, str]
    initial: Mapping[str, Mapping[str, int]]
    slots: int
    partitioners: Mapping[str, str]
    """Topic to partitioner, for topics that do not use the default."""
    inventory: Inventory | None = None
    places: tuple[StateFolder, ...] = ()
    """Of the sub-topologies in the inventory."""
    folders_made: int = 0
    begins: Mapping[str, int] = field(default_factory=dict)
    """Store or operator to the first batch whose entries count: earlier ones were dropped."""

    @classmethod
    def load(cls, folder: Folder, application_id: str) -> Self | None:
        """Raises ConfigError for a checkpoint that is damaged or another application's."""
        content = folder.read(FILE)
        if content is None:
            return None
        try:
            found = json.loads(content)
            version = found.pop("version", 1)
            record = cls(**_parsed(found)) if version in (WITHOUT_INVENTORY, VERSION) else None
        except (ValueError, TypeError, AttributeError, KeyError) as broken:
            raise ConfigError(
                f"{folder.address}/{FILE} cannot be read ({broken}): restore the checkpoint, or delete it with "
                f"moldau streams reset {application_id}"
            ) from None
        if record is None:
            raise ConfigError(
                f"the checkpoint {folder.address} was written by another version of Moldau (format {version}, this one "
                f"reads {VERSION}): start over with moldau streams reset {application_id}"
            )
        if record.application_id != application_id:
            raise ConfigError(
                f"the checkpoint {folder.address} belongs to the application {record.application_id}, not to "
                f"{application_id}: name another folder with --checkpoint-dir"
            )
        return record

    @classmethod
    def new(
        cls,
        application_id: str,
        fingerprint: str,
        topic_ids: Mapping[str, str],
        initial: Mapping[str, Mapping[str, int]],
        slots: int,
        partitioners: Mapping[str, str],
    ) -> Self:
        return cls(application_id, uuid.uuid4().hex, fingerprint, topic_ids, initial, slots, partitioners)

    @property
    def initial_json(self) -> str:
        return json.dumps(self.initial)

    @property
    def state_folders(self) -> tuple[str, ...]:
        """The folder of each sub-topology, by its index."""
        return tuple(place.folder for place in self.places)

    def save(self, folder: Folder) -> None:
        folder.write(FILE, json.dumps({"version": VERSION, **asdict(self)}, indent=1).encode())

    def check_form(self, application_id: str, fingerprint: str) -> None:
        """Raises ConfigError for a changed topology if there is no inventory to compare it with."""
        if self.inventory is None and fingerprint != self.fingerprint:
            raise ConfigError(
                f"the topology of {application_id} is not the one that made its checkpoint, and the checkpoint, "
                "from an earlier version of Moldau, does not say what has changed. Run the old topology once "
                "with this version, then the changed one; or give that another application id; or reset it "
                f"(moldau streams reset {application_id}), which builds its state again from its topics"
            )

    def with_inventory(self, topology: Topology) -> Self:
        """The record with the inventory of the topology that made the checkpoint."""
        inventory = Inventory.of(topology)
        places = tuple(
            StateFolder(str(number), dict.fromkeys(part.topics, 0))
            for number, part in enumerate(inventory.parts)
        )
        return replace(self, inventory=inventory, places=places, folders_made=len(places))

    def with_slots(self, slots: int) -> Self:
        return replace(self, slots=slots)


def _parsed(found: dict[str, Any]) -> dict[str, Any]:
    inventory = found.get("inventory")
    return {
        **found,
        "inventory": None if inventory is None else Inventory.from_json(inventory),
        "places": tuple(StateFolder(**place) for place in found.get("places", ())),
    }


def check_topics(application_id: str, topic_ids: Mapping[str, str], facts: Mapping[str, TopicFacts]) -> None:
    for topic, topic_id in topic_ids.items():
        is_own = topic.startswith(f"{application_id}-") and topic.endswith(BETWEEN)
        if topic not in facts and is_own:
            raise ConfigError(
                f"the topic {topic} was deleted: it is an internal topic of {application_id}, and its unread records "
                f"are lost. Start over with moldau streams reset {application_id}"
            )
        if topic not in facts:
            raise ConfigError(
                f"the topic {topic}, which {application_id} reads, was deleted. Create it and reset the application "
                f"(moldau streams reset {application_id}): positions in the old topic mean nothing in a new one"
            )
        if facts[topic].topic_id != topic_id:
            raise ConfigError(
                f"the topic {topic}, which {application_id} reads, was deleted and created again: it has the id "
                f"{facts[topic].topic_id}, the checkpoint knows {topic_id}. The positions and the state of "
                f"the application belong to the old one. To use the new one: moldau streams reset {application_id}"
            )
