"""What a checkpoint remembers of its application, beside Spark's own files: whose it is, which topics it was made of
and where it began. Refuses to go on where going on would be wrong, and says why.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final, Self

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.folder import Folder
from moldau.pipeline.spark.topic_offsets import TopicFacts

FILE: Final = "application.json"
VERSION: Final = 2


@dataclass(frozen=True)
class ApplicationRecord:
    application_id: str
    checkpoint_id: str
    fingerprint: str
    topic_ids: Mapping[str, str]
    initial: Mapping[str, Mapping[str, int]]
    slots: int
    partitioners: Mapping[str, str]
    """Topic to how keys are spread over it, where that is not the default."""

    @classmethod
    def load(cls, folder: Folder, application_id: str) -> Self | None:
        """Raises ConfigError for what is there but is not this application's."""
        content = folder.read(FILE)
        if content is None:
            return None
        try:
            found = json.loads(content)
            version = found.pop("version", 1)
            record = cls(**found) if version == VERSION else None
        except (ValueError, TypeError, AttributeError) as broken:
            raise ConfigError(
                f"{folder.address}/{FILE} cannot be read ({broken}): restore the checkpoint, or forget it with "
                f"moldau streams reset {application_id}"
            ) from None
        if record is None:
            raise ConfigError(
                f"the checkpoint {folder.address} was written by another version of Moldau (form {version}, this one "
                f"reads {VERSION}): begin again with moldau streams reset {application_id}"
            )
        if record.application_id != application_id:
            raise ConfigError(
                f"the checkpoint {folder.address} is that of the application {record.application_id}, not of "
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

    def save(self, folder: Folder) -> None:
        folder.write(FILE, json.dumps({"version": VERSION, **asdict(self)}, indent=1).encode())

    def check(self, application_id: str, fingerprint: str, facts: Mapping[str, TopicFacts]) -> None:
        """Raises ConfigError when the checkpoint does not fit the topology or the topics."""
        if fingerprint != self.fingerprint:
            raise ConfigError(
                f"the topology of {application_id} is not the one its checkpoint was made by: its state would be "
                "read by operators it does not belong to. Give the changed application another id, or reset it "
                f"(moldau streams reset {application_id}), which builds its state anew from its topics"
            )
        check_topics(application_id, self.topic_ids, facts)

    def with_slots(self, slots: int) -> Self:
        return replace(self, slots=slots)


def check_topics(application_id: str, topic_ids: Mapping[str, str], facts: Mapping[str, TopicFacts]) -> None:
    for topic, topic_id in topic_ids.items():
        if topic not in facts:
            raise ConfigError(
                f"the topic {topic}, which {application_id} reads, was deleted. Create it and reset the application "
                f"(moldau streams reset {application_id}): positions in the old topic mean nothing in a new one"
            )
        if facts[topic].topic_id != topic_id:
            raise ConfigError(
                f"the topic {topic}, which {application_id} reads, was deleted and created again: it has the id "
                f"{facts[topic].topic_id}, the checkpoint knows {topic_id}. The positions and the state of "
                f"the application belong to the old one. To begin with the new: moldau streams reset {application_id}"
            )
