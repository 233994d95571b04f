"""Statements that are logged: checked as `replay` will apply them, and against what is in the cluster now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from moldau.pipeline.sql.analysis.plan import QueryPlan
from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.answers import CurrentStatus, Warned
from moldau.pipeline.sql.engine.catalog import Catalog
from moldau.pipeline.sql.engine.changes import change_by
from moldau.pipeline.sql.engine.command import Action, Command, Entity
from moldau.pipeline.sql.engine.completion import (
    SIDES,
    complete_query,
    complete_source,
    subject_need,
    subjects_needed,
    with_wrapping,
)
from moldau.pipeline.sql.engine.decision import Decision
from moldau.pipeline.sql.engine.facts import Facts, Needs
from moldau.pipeline.sql.engine.protected_topics import check_usable, check_writable
from moldau.pipeline.sql.engine.rules.logged import Logged, nothing_to_create, replaced
from moldau.pipeline.sql.engine.rules.outline import outline_json, plan_of
from moldau.pipeline.sql.engine.rules.topologies import topology_that_runs
from moldau.pipeline.sql.engine.schemas import generated, missing_schemas, schemas_of
from moldau.pipeline.sql.engine.server_properties import canonical_name, checked
from moldau.pipeline.sql.engine.session import Session
from moldau.pipeline.sql.engine.state import Change
from moldau.pipeline.sql.engine.topics import (
    check_copartitioned,
    sink_topic,
    topic_name,
    topic_of_source,
)
from moldau.pipeline.sql.engine.with_properties import COMMON, OF_CREATE, WithProperties, read_properties
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.printing import expression_text
from moldau.pipeline.sql.syntax.tree import statements as tree
from moldau.pipeline.sql.syntax.tree.expressions import Constant
from moldau.pipeline.sql.syntax.tree.relations import Query
from moldau.pipeline.sql.syntax.tree.statements import Statement

OF_QUERIES: Final = ("auto.offset.reset", "processing.guarantee")
"""The settings of Kafka Streams that change what a query does."""
QUERIES_MAX_SETTING: Final = "ksql.query.persistent.active.limit"


def needs_logged(statement: Statement, catalog: Catalog) -> Needs:
    match statement:
        case tree.CreateSource():
            said = read_properties(statement.properties, OF_CREATE)
            topic = topic_name(statement.name, said, statement.at)
            return Needs((topic,), subjects_needed(topic, said))
        case tree.CreateAsSelect():
            said = read_properties(statement.properties, COMMON)
            topic = topic_name(statement.name, said, statement.at)
            subjects = [subject_need(topic, side, said) for side in SIDES]
            by_id = tuple(one for one in subjects if one.schema_id is not None)
            read = _topics_read(statement.query, catalog)
            return Needs((topic, *read), by_id, ends=_streams_read(statement.query, catalog))
        case tree.InsertSelect():
            read = _topics_read(statement.query, catalog)
            return Needs(read, ends=_streams_read(statement.query, catalog))
    return Needs()


def _topics_read(query: Query, catalog: Catalog) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.topic for one in _sources_read(query, catalog)))


def _streams_read(query: Query, catalog: Catalog) -> tuple[str, ...]:
    """Their topics. Those of tables are always read from their beginning."""
    return tuple(dict.fromkeys(one.topic for one in _sources_read(query, catalog) if not one.is_table))


def _sources_read(query: Query, catalog: Catalog) -> list[SourceInfo]:
    names = [query.source.name, *(join.right.name for join in query.joins)]
    return [catalog.sources[name] for name in names if name in catalog.sources]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a statement is decided with. `text` is the statement's own."""

    text: str
    catalog: Catalog
    session: Session
    facts: Facts
    library: FunctionLibrary

    def change(self, statement: Statement, text: str, plan: QueryPlan | None = None) -> Change:
        """What replaying the statement will change, if no other command comes first."""
        return change_by(statement, self.logged(text, plan))

    def logged(self, text: str, plan: QueryPlan | None = None) -> Logged:
        catalog, properties = self.catalog, self.session.properties
        return Logged(
            text,
            catalog.next_offset,
            properties,
            catalog.definitions,
            self.library,
            catalog.registry,
            self.server_properties,
            begin=self.facts.ends,
            plan=plan,
        )

    @property
    def server_properties(self) -> Mapping[str, str]:
        """The server's settings that queries have. Logged, since servers may differ."""
        settings = {canonical_name(name): value for name, value in self.facts.settings.items()}
        return {name: settings[name] for name in OF_QUERIES if name in settings}

    def decision(
        self, statement: Statement, text: str, change: Change, plan: QueryPlan | None = None
    ) -> Decision:
        command = Command(*_id_of(statement), text, dict(self.session.properties), self.server_properties)
        if plan is not None:
            command = replace(command, outline=outline_json(plan), begin=change.queries[0].begin)
        return Decision(CurrentStatus(change.message, command.id, query_id=change.query_id), command)


def decide_logged(statement: Statement, asked: Asked) -> Decision:
    rule = RULES.get(type(statement), decide_simple)
    return rule(statement, asked)


def decide_simple(statement: Statement, asked: Asked) -> Decision:
    """Types, queries and INSERT ... SELECT: no more than what replaying it changes."""
    change = asked.change(statement, asked.text)
    if change.is_nothing:
        return nothing_to_do(statement, change)
    return asked.decision(statement, asked.text, change)


def nothing_to_do(statement: Statement, change: Change) -> Decision:
    """Not logged. ksqlDB answers a warning to CREATE alone."""
    is_create = isinstance(statement, tree.CreateSource | tree.CreateAsSelect)
    return Decision(Warned(change.message) if is_create else CurrentStatus(change.message))


def decide_create_source(statement: tree.CreateSource, asked: Asked) -> Decision:
    nothing = nothing_to_create(statement, asked.catalog.definitions)
    if nothing is not None:
        return nothing_to_do(statement, nothing)
    said = read_properties(statement.properties, OF_CREATE)
    topic = topic_name(statement.name, said, statement.at)
    check_usable(topic, asked.facts.settings, said.places.get("KAFKA_TOPIC", statement.at))
    complete = complete_source(statement, asked.facts)
    change = asked.change(complete.statement, complete.text)
    source, said = change.sources[0], read_properties(complete.statement.properties, OF_CREATE)
    return replace(
        asked.decision(statement, complete.text, change),
        topics_to_create=topic_of_source(source, said, asked.facts, statement.at),
        schemas_to_register=missing_schemas(source, said, asked.facts),
        warnings=complete.warnings,
    )


def decide_create_as(statement: tree.CreateAsSelect, asked: Asked) -> Decision:
    defined = asked.catalog.definitions
    nothing = nothing_to_create(statement, defined)
    if nothing is not None:
        return nothing_to_do(statement, nothing)
    replaced(statement, defined)  # a name that is taken is refused before the query is looked at
    plan = plan_of(statement.query, asked.logged(asked.text))
    target = asked.change(statement, asked.text, plan).sources[0]
    statement = with_wrapping(statement, target, asked.facts)
    said = read_properties(statement.properties, COMMON)
    topic, new = sink_topic(target, plan, said, asked.facts, statement.at)
    complete = complete_query(
        statement, asked.text, target, partitions=topic.partitions, replicas=topic.replicas
    )
    change = asked.change(complete.statement, complete.text, plan)
    target = change.sources[0]
    check_room(change, asked, statement)
    topology_that_runs(plan, target, change.query_id or "")
    return replace(
        asked.decision(statement, complete.text, change, plan),
        topics_to_create=new,
        schemas_to_register=schemas_of(target, said, asked.facts),
        warnings=_key_warning(target, plan, said),
    )


def _key_warning(target: SourceInfo, plan: QueryPlan, said: WithProperties) -> tuple[str, ...]:
    before = plan.first.source.key_format.name
    if said.key_format is not None or before != "KAFKA" or target.key_format.name == before:
        return ()
    names = ", ".join(column.name for column in target.schema.key)
    form = target.key_format.name
    return (
        f"The key of {target.name} is written as {form}, since KAFKA, the key format of {plan.first.source.name}, "
        f"cannot hold {names}. KEY_FORMAT='{form}' in the WITH says so.",
    )


def decide_insert(statement: tree.InsertSelect, asked: Asked) -> Decision:
    plan = plan_of(statement.query, asked.logged(asked.text))
    change = asked.change(statement, asked.text, plan)
    check_writable(asked.catalog.sources[statement.target].topic, asked.facts.settings, statement.at)
    check_copartitioned(plan, asked.facts, statement.at)
    topology_that_runs(plan, asked.catalog.sources[statement.target], change.query_id or "")
    return asked.decision(statement, asked.text, change, plan)


def check_room(change: Change, asked: Asked, statement: Statement) -> None:
    """SqlError where the server's settings allow no more queries."""
    limit = asked.facts.settings.get(QUERIES_MAX_SETTING)
    running = asked.catalog.queries
    if limit is None or change.query_id in running or len(running) < int(limit):
        return
    raise SqlError(
        f"{len(running)} persistent queries run, and no more are allowed ({QUERIES_MAX_SETTING}={limit})",
        statement.at,
        hint="TERMINATE one, or let the server have more.",
    )


def decide_drop(statement: tree.DropSource, asked: Asked) -> Decision:
    decision = decide_simple(statement, asked)
    if decision.command is None or not statement.delete_topic:
        return decision
    topic = asked.catalog.sources[statement.name].topic
    check_writable(topic, asked.facts.settings, statement.at)
    return replace(decision, topics_to_delete=(topic,))


def decide_alter(statement: tree.AlterSource, asked: Asked) -> Decision:
    change = asked.change(statement, asked.text)
    source = change.sources[0]
    schema = generated(source, "VALUE")
    return replace(
        asked.decision(statement, asked.text, change), schemas_to_register=() if schema is None else (schema,)
    )


def decide_alter_system(statement: tree.AlterSystem, asked: Asked) -> Decision:
    name, value = checked(statement.name, statement.value, asked.facts.settings, statement.at)
    text = f"ALTER SYSTEM {_string(name)}={_string(value)};"
    return asked.decision(statement, text, asked.change(replace(statement, name=name, value=value), text))


def _string(text: str) -> str:
    return expression_text(Constant("STRING", text))


RULES: Final[Mapping[type[Statement], Callable[[Any, Asked], Decision]]] = {
    tree.CreateSource: decide_create_source,
    tree.CreateAsSelect: decide_create_as,
    tree.InsertSelect: decide_insert,
    tree.DropSource: decide_drop,
    tree.AlterSource: decide_alter,
    tree.AlterSystem: decide_alter_system,
}


def _id_of(statement: Statement) -> tuple[Entity, str, Action]:
    match statement:
        case tree.CreateSource() | tree.CreateAsSelect():
            return _entity(statement.kind), statement.name, "create"
        case tree.InsertSelect():
            return "stream", statement.target, "create"
        case tree.DropSource():
            return _entity(statement.kind), statement.name, "drop"
        case tree.AlterSource():
            return _entity(statement.kind), statement.name, "alter"
        case tree.CreateType():
            return "type", statement.name, "create"
        case tree.DropType():
            return "type", statement.name, "drop"
        case tree.AlterSystem():
            return "cluster", statement.name, "alter"
        case tree.QueryControl(action=action):
            words: dict[str, Entity] = {"TERMINATE": "terminate", "PAUSE": "pause", "RESUME": "resume"}
            return words[action], statement.query_id or "ALL", "execute"
    raise TypeError(f"{statement!r} is not logged")


def _entity(kind: tree.Kind) -> Entity:
    return "stream" if kind is tree.Kind.STREAM else "table"
