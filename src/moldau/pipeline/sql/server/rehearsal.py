"""Tries the statements of a request on a copy of the catalog, so that a request with an error in it changes nothing."""

from dataclasses import replace

from moldau.pipeline.sql.engine import (
    Catalog,
    Decision,
    Facts,
    NewSchema,
    Session,
    SubjectNeed,
    TopicFacts,
    decide,
    needs,
)
from moldau.pipeline.sql.queries.preparing import is_user_called
from moldau.pipeline.sql.server.failures import ServiceFailure, bad_statement
from moldau.pipeline.sql.server.statement_texts import errors_within, parsed
from moldau.pipeline.sql.server.world import World
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree import statements as tree


class Rehearsal:
    def __init__(self, catalog: Catalog, world: World) -> None:
        self._catalog = Catalog(catalog.library, catalog.registry)
        self._catalog.definitions = catalog.definitions
        self._catalog.next_offset = catalog.next_offset
        self._world = world
        self._topics: dict[str, TopicFacts] = {}
        self._deleted: set[str] = set()
        self._schemas: dict[SubjectNeed, NewSchema] = {}

    def run(self, texts: list[str], session: Session) -> None:
        """Raises ServiceFailure for the first statement that fails."""
        for text in texts:
            try:
                session = self._step(text, session)
            except SqlError as wrong:
                raise bad_statement(wrong, text) from wrong

    def _step(self, text: str, session: Session) -> Session:
        one = parsed(text, session)
        if isinstance(one.statement, tree.QueryStatement | tree.Print | tree.AssertTopic | tree.AssertSchema):
            return session
        if isinstance(one.statement, tree.InsertValues) and is_user_called(
            one.statement, self._catalog.library
        ):
            # To decide it is to call the function, which may block.
            return session
        with errors_within(one.text):
            facts = self._overlaid(self._world.facts(needs(one.statement, self._catalog)))
            decision = decide(one.text, one.statement, self._catalog, session, facts, self._catalog.library)
        if decision.command is not None:
            applied = self._catalog.replay(decision.command, self._catalog.next_offset)
            if not applied.is_done:
                raise ServiceFailure(40001, applied.message, statement=text)
        self._remember(decision)
        return decision.session or session

    def _remember(self, decision: Decision) -> None:
        for topic in decision.topics_to_create:
            self._topics[topic.name] = TopicFacts(topic.partitions, topic.replicas, topic.configs)
            self._deleted.discard(topic.name)
        for name in decision.topics_to_delete:
            self._topics.pop(name, None)
            self._deleted.add(name)
        self._schemas |= {SubjectNeed(new.subject): new for new in decision.schemas_to_register}

    def _overlaid(self, facts: Facts) -> Facts:
        topics = {name: one for name, one in facts.topics.items() if name not in self._deleted}
        schemas = {need: new.schema for need, new in self._schemas.items()}
        return replace(facts, topics={**topics, **self._topics}, schemas={**facts.schemas, **schemas})
