"""DESCRIBE: a stream or table, all of them, or a function."""

from typing import Final, Literal

from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.answers import (
    ArgumentDescription,
    DescribeFunction,
    FunctionVariation,
    SourceDescription,
    SourceDescriptions,
)
from moldau.pipeline.sql.engine.catalog import Catalog
from moldau.pipeline.sql.engine.decision import Decision, Forward
from moldau.pipeline.sql.engine.facts import Facts, Needs
from moldau.pipeline.sql.engine.rules.logged import existing
from moldau.pipeline.sql.engine.session import Session
from moldau.pipeline.sql.functions.declaration import (
    Aggregate,
    AggregateForm,
    Form,
    Function,
    Scalar,
)
from moldau.pipeline.sql.functions.reference import result_text
from moldau.pipeline.sql.syntax.errors import Position, SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree.statements import Describe, Kind

BUILT_IN_AUTHOR: Final = "Moldau"
BUILT_IN_PATH: Final = "(internal)"
FunctionKind = Literal["SCALAR", "AGGREGATE", "TABLE"]


def needs_describing(statement: Describe, catalog: Catalog) -> Needs:
    """The topics, where partitions and replicas are shown."""
    if not statement.is_extended:
        return Needs()
    match statement.what:
        case "SOURCE":
            source = catalog.sources.get(statement.name)
            return Needs() if source is None else Needs(topics=(source.topic,))
        case "STREAMS" | "TABLES":
            return Needs(topics=tuple(dict.fromkeys(one.topic for one in _all(statement, catalog))))
    return Needs()


def decide_describing(
    statement: Describe, catalog: Catalog, session: Session, facts: Facts, library: FunctionLibrary
) -> Decision:
    match statement.what:
        case "CONNECTOR":
            return Decision(forward=Forward(statement))
        case "FUNCTION":
            return Decision(_function(statement.name, library, statement.at))
        case "SOURCE":
            source = existing(statement.name, statement.at, catalog.definitions)
            return Decision(description_of(source, catalog, facts, is_extended=statement.is_extended))
    return Decision(
        SourceDescriptions(
            tuple(
                description_of(one, catalog, facts, is_extended=statement.is_extended)
                for one in _all(statement, catalog)
            )
        )
    )


def description_of(
    source: SourceInfo, catalog: Catalog, facts: Facts, *, is_extended: bool
) -> SourceDescription:
    topic = facts.topics.get(source.topic)
    defined = catalog.definitions
    return SourceDescription(
        source=source,
        read_queries=defined.readers(source.name),
        write_queries=defined.writers(source.name),
        is_extended=is_extended,
        partitions=topic.partitions if topic else 0,
        replicas=topic.replicas if topic else 0,
        constraints=defined.made_from(source.name),
    )


def _all(statement: Describe, catalog: Catalog) -> list[SourceInfo]:
    kind = Kind.STREAM if statement.what == "STREAMS" else Kind.TABLE
    return [one for _, one in sorted(catalog.sources.items()) if one.kind is kind]


# Functions


def kind_of(function: Function) -> FunctionKind:
    match function:
        case Scalar():
            return "SCALAR"
        case Aggregate():
            return "AGGREGATE"
    return "TABLE"


def _function(name: str, library: FunctionLibrary, at: Position) -> DescribeFunction:
    function = library.find(name)
    if function is None:
        hint = did_you_mean(name, library.names()) or "SHOW FUNCTIONS; lists them."
        raise SqlError(f"unknown function {name}", at, hint=hint)
    return DescribeFunction(
        function=function,
        name=function.name,
        type=kind_of(function),
        category=function.category.value,
        doc=function.doc,
        author=function.author or ("" if function.path else BUILT_IN_AUTHOR),
        path=function.path or BUILT_IN_PATH,
        variations=tuple(_variation(form, function) for form in function.forms),
        examples=function.examples,
    )


def _variation(form: Form | AggregateForm, function: Function) -> FunctionVariation:
    variadic = len(form.parameters) - 1 - form.after_variadic if form.is_variadic else None
    return FunctionVariation(
        arguments=tuple(
            ArgumentDescription(one.name, str(one.type), one.doc, index == variadic)
            for index, one in enumerate(form.parameters)
        ),
        returns=result_text(form),
        doc=form.doc or function.doc,
    )
