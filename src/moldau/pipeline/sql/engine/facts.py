"""What a decision may ask of the world. The server looks up what `needs` names and hands it in."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from moldau.pipeline.sql.formats.infer import SubjectSchema


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """An existing topic."""

    partitions: int
    replicas: int = 1
    configs: Mapping[str, str] = field(default_factory=dict)
    """Such as `cleanup.policy` and `retention.ms`."""


@dataclass(frozen=True, slots=True)
class SubjectNeed:
    """A schema of the registry: the newest of a subject, or one by its id."""

    subject: str
    schema_id: int | None = None


@dataclass(frozen=True, slots=True)
class Needs:
    """What a statement asks for. Empty: nothing has to be looked up."""

    topics: tuple[str, ...] = ()
    subjects: tuple[SubjectNeed, ...] = ()
    ends: tuple[str, ...] = ()
    """Topics whose end offsets are asked for."""
    all_topics: bool = False
    """Every topic of the cluster: SHOW TOPICS."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The answers. A topic or schema that was asked for and is not here does not exist."""

    topics: Mapping[str, TopicFacts] = field(default_factory=dict)
    schemas: Mapping[SubjectNeed, SubjectSchema] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    """The server's settings by name (`ksql.persistence.default.format.value`); what is missing has its default."""
    ends: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """By topic, the end offset of each partition."""
    now_ms: int = 0
    """ROWTIME of INSERT VALUES where the statement says none."""
