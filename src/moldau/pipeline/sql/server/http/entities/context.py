"""What rendering needs to know beyond an answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.server.requests import Runtime


@dataclass(frozen=True, slots=True)
class Context:
    sources: Mapping[str, SourceInfo] = field(default_factory=dict)
    """All streams and tables by name."""
    application_id: Callable[[str], str] = str
    """The consumer group of a query."""
    runtime: Runtime = field(default_factory=Runtime)
    command_sequence_number: int = -1
    """The offset of the statement's command; -1: there is none."""

    def topics(self, sink: str) -> list[str]:
        source = self.sources.get(sink)
        return [] if source is None else [source.topic]
