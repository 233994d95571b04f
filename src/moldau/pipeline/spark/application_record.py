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


@dataclass(frozen=True)
class ApplicationRecord:
    checkpoint_id: str
    fingerprint: str
    topic_ids: Mapping[str, str]
    initial: Mapping[str, Mapping[str, int]]
    slots: int

    @classmethod
    def load(cls, folder: Folder) -> Self | None:
        content = folder.read(FILE)
        return None if content is None else cls(**json.loads(content))

    @classmethod
    def new(
        cls,
        fingerprint: str,
        topic_ids: Mapping[str, str],
        initial: Mapping[str, Mapping[str, int]],
        slots: int,
    ) -> Self:
        return cls(uuid.uuid4().hex, fingerprint, topic_ids, initial, slots)

    def save(self, folder: Folder) -> None:
        folder.write(FILE, json.dumps(asdict(self), indent=1).encode())

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
