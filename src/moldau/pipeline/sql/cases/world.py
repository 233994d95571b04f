"""Executes statements over topics in memory: the engine decides, this runs what it decided."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from moldau.pipeline.sql.analysis.query import analyse
from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.cases.assertions import Assertions
from moldau.pipeline.sql.cases.local_run import LocalRun
from moldau.pipeline.sql.cases.topics import StoredRecord, Topics
from moldau.pipeline.sql.engine import Catalog, Facts, Session, TopicFacts, decide, needs
from moldau.pipeline.sql.engine.decision import Decision, InsertRow
from moldau.pipeline.sql.engine.state import Change, PersistentQuery, QueryState
from moldau.pipeline.sql.formats import row_serde
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import Parsed, parse
from moldau.pipeline.sql.syntax.tree import statements as tree
from moldau.pipeline.sql.translation.query import key_serde, topology_of


class World:
    """The topics (`topics`), definitions (`catalog`) and queries of one case."""

    def __init__(self, functions: FunctionLibrary) -> None:
        self._functions = functions
        self.catalog = Catalog(functions)
        self._session = Session()
        self.topics = Topics()
        self._assertions = Assertions(self.catalog, self.topics, functions)
        self._queries: dict[str, tuple[PersistentQuery, LocalRun]] = {}
        self.failures: list[str] = []
        """What expressions and records failed with: ksqlDB's processing log."""
        self.warnings: list[str] = []

    def substituted(self, text: str) -> str:
        """With the values of variables in the place of their names."""
        return self._session.substituted(text)

    def execute(self, one: Parsed) -> None:
        statement = one.statement
        rule = _ASSERTIONS.get(type(statement))
        if rule is not None:
            rule(self._assertions, statement)
            return
        if isinstance(statement, tree.QueryStatement | tree.Print | tree.RunScript):
            raise SqlError(f"{type(statement).__name__} cannot stand in a file of cases", statement.at)
        facts = self._facts(statement)
        self._do(decide(one.text, statement, self.catalog, self._session, facts, self._functions), statement)

    def _facts(self, statement: tree.Statement) -> Facts:
        """All topics that a statement names exist, with one partition; but not one that it is to create."""
        known = {name: TopicFacts(partitions) for name, partitions in self.topics.partitions.items()}
        wanted = needs(statement, self.catalog)
        if isinstance(statement, tree.CreateSource) and not _says_partitions(statement):
            known = {name: TopicFacts(1) for name in wanted.topics} | known
        return Facts({name: known[name] for name in wanted.topics if name in known})

    def _do(self, decision: Decision, statement: tree.Statement) -> None:
        self.warnings += decision.warnings
        self._session = decision.session or self._session
        for topic in decision.topics_to_create:
            self.topics.partitions[topic.name] = topic.partitions
        if decision.command is not None:
            applied = self.catalog.replay(decision.command, self.catalog.next_offset)
            if applied.change is None:
                raise SqlError(applied.message, statement.at)
            self._change(applied.change)
        if decision.insert is not None:
            self._insert(decision.insert)

    def _change(self, change: Change) -> None:
        for source in change.sources:
            self.topics.partitions.setdefault(source.topic, 1)
        for query in change.queries:
            self._start(query)
        for query_id in change.removed_queries:
            del self._queries[query_id]

    def _start(self, query: PersistentQuery) -> None:
        """A query that was paused or resumed goes on with its state; one that was replaced begins with the next
        record."""
        known = self._queries.get(query.id)
        if known is not None and known[0].version == query.version:
            self._queries[query.id] = (query, known[1])
            self._catch_up(query.id)
            return
        statement = parse(query.statement)[0].statement
        assert isinstance(statement, tree.CreateAsSelect | tree.InsertSelect)
        assert query.target is not None
        sources = {one.name: one for one in query.inputs}
        plan = analyse(statement.query, sources, self._functions, query.types, is_persistent=True)
        run = LocalRun(topology_of(plan, query.target, query.id.lower(), on_failure=self._on_failure))
        run.positions = {topic: len(self.topics.records(topic)) for topic in run.topics}
        self._queries[query.id] = (query, run)

    def _on_failure(self, text: str, failure: Exception, row: Any) -> None:
        self.failures.append(f"{text}: {failure}")

    # Records

    def _insert(self, row: InsertRow) -> None:
        source = row.source
        key = key_serde(replace(source, window=None)).encoder(source.topic, is_key=True)
        value = row_serde(source.value_format, source.stored_columns, is_key=False).encoder(
            source.topic, is_key=False
        )
        record = StoredRecord(
            None if row.key is None else key(row.key),
            None if row.value is None else value(row.value),
            row.timestamp_ms,
        )
        self.topics.append(source.topic, record)
        self._run_all()

    def _run_all(self) -> None:
        """Until no query has anything left to read."""
        while any([self._catch_up(query_id) for query_id in self._queries]):
            pass

    def _catch_up(self, query_id: str) -> bool:
        """Processes what a query has not read; whether there was anything."""
        query, run = self._queries[query_id]
        if query.state is QueryState.PAUSED:
            return False
        did = False
        for topic in sorted(run.topics):
            records = self.topics.records(topic)
            for offset in range(run.positions[topic], len(records)):
                did = True
                run.positions[topic] = offset + 1
                for made in run.take(topic, offset, *records[offset]):
                    record = StoredRecord(made.key, made.value, made.timestamp_ms, made.headers)
                    self.topics.append(made.topic, record)
        self.failures += run.dead
        run.dead.clear()
        return did


def _says_partitions(statement: tree.CreateSource) -> bool:
    return any(one.name.upper() == "PARTITIONS" for one in statement.properties)


_ASSERTIONS: Final[Mapping[type, Callable[[Assertions, Any], None]]] = {
    tree.AssertValues: Assertions.assert_values,
    tree.AssertSource: Assertions.assert_source,
}
