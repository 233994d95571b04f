"""Statements executed against a catalog and facts in memory, as a server executes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from moldau.pipeline.sql.engine import (
    Applied,
    Catalog,
    Command,
    Decision,
    Facts,
    Session,
    SubjectNeed,
    TopicFacts,
    decide,
    needs,
)
from moldau.pipeline.sql.formats.infer import SubjectSchema
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import parse


@dataclass
class StatementDesk:
    """`log` is the command topic: keys and values."""

    topics: dict[str, TopicFacts] = field(default_factory=dict)
    ends: dict[str, tuple[int, ...]] = field(default_factory=dict)
    schemas: dict[SubjectNeed, SubjectSchema] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    session: Session = field(default_factory=Session)
    catalog: Catalog = field(default_factory=lambda: Catalog(builtin()))
    log: list[tuple[bytes, bytes]] = field(default_factory=list)
    applied: list[Applied] = field(default_factory=list)

    def decide(self, text: str) -> Decision:
        """Of the only statement of the text. Facts are what was asked for, and no more."""
        [parsed] = parse(text)
        asked = needs(parsed.statement, self.catalog)
        facts = Facts(
            {name: one for name, one in self.topics.items() if name in asked.topics or asked.all_topics},
            {need: one for need, one in self.schemas.items() if need in asked.subjects},
            self.settings,
            {name: one for name, one in self.ends.items() if name in asked.ends},
        )
        return decide(parsed.text, parsed.statement, self.catalog, self.session, facts, self.catalog.library)

    def run(self, text: str) -> list[Decision]:
        """Every statement, decided and done."""
        return [self.do(self.decide(one.text)) for one in parse(text)]

    def do(self, decision: Decision) -> Decision:
        for topic in decision.topics_to_create:
            assert topic.name not in self.topics
            self.topics[topic.name] = TopicFacts(topic.partitions, max(topic.replicas, 1), topic.configs)
        for new in decision.schemas_to_register:
            self.schemas[SubjectNeed(new.subject)] = new.schema
        if decision.command is not None:
            self.append(decision.command)
        for name in decision.topics_to_delete:
            del self.topics[name]
        self.session = decision.session or self.session
        return decision

    def append(self, command: Command) -> Applied:
        """Through the bytes of the log."""
        key, value = command.to_bytes()
        self.log.append((key, value))
        applied = self.catalog.replay(Command.from_bytes(key, value), len(self.log) - 1)
        self.applied.append(applied)
        return applied

    def replayed(self) -> Catalog:
        """Another server's catalog, of the same log."""
        catalog = Catalog(self.catalog.library, self.catalog.registry)
        for offset, (key, value) in enumerate(self.log):
            catalog.replay(Command.from_bytes(key, value), offset)
        return catalog

    def refused(self, text: str) -> str:
        """The whole message of the refusal, and that nothing has changed."""
        before, version, topics = self.catalog.definitions, self.catalog.version, dict(self.topics)
        try:
            self.run(text)
        except SqlError as wrong:
            assert self.catalog.definitions == before
            assert self.catalog.version == version
            assert self.topics == topics
            return str(wrong)
        raise AssertionError(f"not refused: {text}")
