"""Statements, one after the other, each ended by a semicolon."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

from moldau.pipeline.sql.syntax.errors import Position
from moldau.pipeline.sql.syntax.parser.queries import QueryParser
from moldau.pipeline.sql.syntax.tokens import Kind as TokenKind
from moldau.pipeline.sql.syntax.tree import statements as tree
from moldau.pipeline.sql.syntax.tree.expressions import Constant, Expression
from moldau.pipeline.sql.syntax.tree.relations import Duration
from moldau.pipeline.sql.syntax.tree.statements import Constraint, Kind, Property, Statement
from moldau.pipeline.sql.types import SqlType


class Parsed(NamedTuple):
    statement: Statement
    text: str
    """As it was written, with the semicolon."""
    start: int
    """Where the text begins in what was parsed."""


def parse(text: str) -> list[Parsed]:
    """All statements of a text; SqlError at the first that is none."""
    parser = StatementParser(text)
    found = []
    while parser.head.kind is not TokenKind.END:
        if parser.accept(";"):
            continue
        start = parser.head.start
        parser.begin_statement()
        statement = parser.statement()
        end = parser.end_of_statement()
        found.append(Parsed(statement, text[start:end], start))
    return found


def parse_expression(text: str) -> Expression:
    parser = StatementParser(text)
    found = parser.expression()
    parser.expect_end()
    return found


def parse_type(text: str) -> SqlType:
    parser = StatementParser(text)
    found = parser.type()
    parser.expect_end()
    return found


def parse_duration(text: str) -> Duration:
    """Such as `30 SECONDS`, as WINDOW_SIZE has it."""
    parser = StatementParser(text)
    found = parser.duration()
    parser.expect_end()
    return found


class StatementParser(QueryParser):
    def statement(self) -> Statement:
        word = self.head.text if self.head.kind is TokenKind.WORD else ""
        rule = _RULES.get(word)
        if word in _NO_STATEMENTS:
            raise self.error(f"there is no {word} statement", hint=_NO_STATEMENTS[word])
        if rule is None:
            raise self.unexpected("a statement", tuple(_RULES))
        return rule(self)

    def end_of_statement(self) -> int:
        """Where it ends in the text, with its semicolon; the last statement may do without."""
        if self.head.kind is TokenKind.END:
            return self.head.end
        end = self.head.end
        if not self.accept(";"):
            raise self.unexpected("';' at the end of the statement", self.clauses_after_source())
        return end

    def expect_end(self) -> None:
        if self.head.kind is not TokenKind.END:
            raise self.unexpected("nothing more")

    def select(self) -> Statement:
        at = self.at
        return tree.QueryStatement(self.query(), at=at)

    # CREATE

    def create(self) -> Statement:
        at = self.at
        self.expect("CREATE")
        or_replace = self.accept("OR", "REPLACE")
        if self.accept("TYPE"):
            return self._create_type(at)
        if not or_replace and (self.goes_on_with("SINK") or self.goes_on_with("SOURCE", "CONNECTOR")):
            return self._create_connector(at)
        is_source = self.accept("SOURCE")
        kind = Kind[self.expect_one_of("STREAM", "TABLE")]
        if_not_exists = self.accept("IF", "NOT", "EXISTS")
        if or_replace and if_not_exists:
            raise self.error("OR REPLACE and IF NOT EXISTS exclude each other", at)
        name = self.name(f"the name of the {kind.value.lower()}")
        columns = self._column_definitions() if self.goes_on_with("(") else ()
        properties = self._properties()
        if not self.accept("AS"):
            return tree.CreateSource(
                kind, name, columns, properties, or_replace, if_not_exists, is_source, at=at
            )
        if columns:
            hint = "Leave the column list out, or use aliases."
            raise self.error("a statement with AS SELECT has its columns from the SELECT", hint=hint)
        if is_source:
            raise self.error("a SOURCE stream or table is defined over a topic, not by AS SELECT", at)
        return tree.CreateAsSelect(kind, name, self.query(), properties, or_replace, if_not_exists, at=at)

    def _create_type(self, at: Position) -> Statement:
        if_not_exists = self.accept("IF", "NOT", "EXISTS")
        name = self.name("the name of the type")
        self.expect("AS")
        return tree.CreateType(name, self.type(), if_not_exists, at=at)

    def _create_connector(self, at: Position) -> Statement:
        kind = self.expect_one_of("SOURCE", "SINK")
        self.expect("CONNECTOR")
        if_not_exists = self.accept("IF", "NOT", "EXISTS")
        name = self._name_or_string("the name of the connector")
        if not self.goes_on_with("WITH"):
            raise self.unexpected("'WITH' and the connector's settings", ("WITH",))
        return tree.CreateConnector(cast(Any, kind), name, self._properties(), if_not_exists, at=at)

    def _column_definitions(self) -> tuple[tree.ColumnDefinition, ...]:
        self.expect("(")
        found = [self._column_definition()]
        while self.accept(","):
            found.append(self._column_definition())
        self.expect(")")
        return tuple(found)

    def _column_definition(self) -> tree.ColumnDefinition:
        at = self.at
        name, kind = self.name("the name of a column"), self.type()
        if self.accept("PRIMARY", "KEY"):
            return tree.ColumnDefinition(name, kind, Constraint.PRIMARY_KEY, at=at)
        if self.accept("KEY"):
            return tree.ColumnDefinition(name, kind, Constraint.KEY, at=at)
        if self.accept("HEADERS"):
            return tree.ColumnDefinition(name, kind, Constraint.HEADERS, at=at)
        if self.accept("HEADER", "("):
            header = self.string("the name of the header")
            self.expect(")")
            return tree.ColumnDefinition(name, kind, Constraint.HEADER, header, at=at)
        return tree.ColumnDefinition(name, kind, at=at)

    def _properties(self) -> tuple[Property, ...]:
        if not self.accept("WITH"):
            return ()
        self.expect("(")
        found: dict[str, Property] = {}
        while not self.accept(")"):
            if found:
                self.expect(",")
            at = self.at
            name = self._name_or_string("the name of a property")
            self.expect("=")
            if name in found:
                raise self.error(f"property {name} is given twice", at)
            found[name] = Property(name, self._constant(name), at=at)
        return tuple(found.values())

    def _constant(self, property_name: str) -> Constant:
        at, value = self.at, self.expression()
        if not isinstance(value, Constant):
            raise self.error(
                f"property {property_name} needs a constant", at, hint="Text stands in single quotes: 'JSON'."
            )
        return value

    # Other definitions

    def drop(self) -> Statement:
        at = self.at
        self.expect("DROP")
        what = self.expect_one_of("STREAM", "TABLE", "TYPE", "CONNECTOR")
        if_exists = self.accept("IF", "EXISTS")
        if what == "TYPE":
            return tree.DropType(self.name("the name of the type"), if_exists, at=at)
        if what == "CONNECTOR":
            return tree.DropConnector(self._name_or_string("the name of the connector"), if_exists, at=at)
        name = self.name(f"the name of the {what.lower()}")
        return tree.DropSource(Kind[what], name, if_exists, self.accept("DELETE", "TOPIC"), at=at)

    def alter(self) -> Statement:
        at = self.at
        self.expect("ALTER")
        if self.accept("SYSTEM"):
            name = self.string("the name of a property")
            self.expect("=")
            return tree.AlterSystem(name, self.string("its value"), at=at)
        kind = Kind[self.expect_one_of("STREAM", "TABLE")]
        name = self.name(f"the name of the {kind.value.lower()}")
        added: list[tree.ColumnDefinition] = []
        while not added or self.accept(","):
            self.expect("ADD")
            self.accept("COLUMN")
            added.append(self._column_definition())
        return tree.AlterSource(kind, name, tuple(added), at=at)

    def insert(self) -> Statement:
        at = self.at
        self.expect("INSERT", "INTO")
        target = self.name("the name of a stream or table")
        properties = self._properties()
        if self.goes_on_with("SELECT"):
            return tree.InsertSelect(target, self.query(), properties, at=at)
        columns, values = self._columns_and_values()
        return tree.InsertValues(target, columns, values, at=at)

    def _columns_and_values(self) -> tuple[tuple[str, ...], tuple[Expression, ...]]:
        columns = self._names() if self.goes_on_with("(") else ()
        if not self.goes_on_with("VALUES"):
            raise self.unexpected("VALUES or SELECT", ("VALUES", "SELECT"))
        at = self.at
        self.expect("VALUES", "(")
        values = self.expressions(")")
        if columns and len(columns) != len(values):
            raise self.error(f"{len(columns)} columns are named and {len(values)} values given", at)
        return columns, values

    def _names(self) -> tuple[str, ...]:
        self.expect("(")
        found = [self.name("the name of a column")]
        while self.accept(","):
            found.append(self.name("the name of a column"))
        self.expect(")")
        return tuple(found)

    # What is there

    def show(self) -> Statement:
        at = self.at
        self.expect_one_of("SHOW", "LIST")
        shows_all = self.accept("ALL")
        if shows_all and not self.goes_on_with("TOPICS"):
            raise self.unexpected("'TOPICS'", ("TOPICS",))
        if self.accept("CONNECTOR", "PLUGINS"):
            return tree.Show("CONNECTOR PLUGINS", at=at)
        if kind := self.accept_one_of("SOURCE", "SINK"):
            self.expect("CONNECTORS")
            return tree.Show("CONNECTORS", connectors=cast(Any, kind), at=at)
        what = self.expect_one_of(
            "TOPICS",
            "STREAMS",
            "TABLES",
            "QUERIES",
            "FUNCTIONS",
            "TYPES",
            "VARIABLES",
            "PROPERTIES",
            "CONNECTORS",
        )
        is_extended = what in ("TOPICS", "STREAMS", "TABLES", "QUERIES") and self.accept("EXTENDED")
        return tree.Show(cast(Any, what), is_extended, shows_all, at=at)

    def describe(self) -> Statement:
        at = self.at
        self.expect("DESCRIBE")
        if self.accept("FUNCTION"):
            return tree.Describe("FUNCTION", self.name("the name of a function"), at=at)
        if self.accept("CONNECTOR"):
            return tree.Describe("CONNECTOR", self._name_or_string("the name of a connector"), at=at)
        what = self.accept_one_of("STREAMS", "TABLES")
        extended_first = what is None and self.goes_on_with("EXTENDED") and self.ahead().text != ";"
        if extended_first and self.ahead().kind in (TokenKind.WORD, TokenKind.QUOTED):
            self.take()  # KSQL 5 wrote DESCRIBE EXTENDED name
            return tree.Describe("SOURCE", self.name("the name of a stream or table"), True, at=at)
        name = "" if what else self.name("the name of a stream or table")
        return tree.Describe(cast(Any, what or "SOURCE"), name, self.accept("EXTENDED"), at=at)

    def print(self) -> Statement:
        at = self.at
        self.expect("PRINT")
        # A topic's name keeps its case, in quotes or not.
        head = self.head
        topic = self._name_or_string("the name of a topic")
        if head.kind is TokenKind.WORD:
            topic = self.text[head.start : head.end]
        from_beginning = self.accept("FROM", "BEGINNING")
        interval, limit = 1, None
        if self.accept_one_of("INTERVAL", "SAMPLE"):
            interval = self.integer("the interval")
        if self.accept("LIMIT"):
            limit = self.integer("the number of records")
        return tree.Print(topic, from_beginning, interval, limit, at=at)

    def explain(self) -> Statement:
        at = self.at
        self.expect("EXPLAIN")
        if (
            self.head.kind is TokenKind.WORD
            and self.head.text in _RULES
            and self.ahead().text not in (";", "")
        ):
            return tree.Explain(self.statement(), at=at)
        return tree.Explain(query_id=self.name("a statement, or the id of a query"), at=at)

    def query_control(self) -> Statement:
        at = self.at
        action = self.expect_one_of("TERMINATE", "PAUSE", "RESUME")
        self.accept("QUERY")  # KSQL 5
        query_id = None if self.accept("ALL") else self.name("the id of a query, or ALL")
        return tree.QueryControl(cast(Any, action), query_id, at=at)

    # Settings and variables

    def set(self) -> Statement:
        at = self.at
        self.expect("SET")
        name = self.string("the name of a property, in quotes")
        self.expect("=")
        return tree.SetProperty(name, self.string("its value, in quotes"), at=at)

    def unset(self) -> Statement:
        at = self.at
        self.expect("UNSET")
        return tree.UnsetProperty(self.string("the name of a property, in quotes"), at=at)

    def define(self) -> Statement:
        at = self.at
        self.expect("DEFINE")
        head, name = self.head, self.name("the name of a variable")
        name = self.text[head.start : head.end] if head.kind is TokenKind.WORD else name
        self.expect("=")
        return tree.Define(name, self.string("its value, in quotes"), at=at)

    def undefine(self) -> Statement:
        at = self.at
        self.expect("UNDEFINE")
        head, name = self.head, self.name("the name of a variable")
        return tree.Undefine(self.text[head.start : head.end] if head.kind is TokenKind.WORD else name, at=at)

    # Assertions and scripts

    def assertion(self) -> Statement:
        at = self.at
        self.expect("ASSERT")
        if self.accept("NULL", "VALUES"):
            return self._assert_values(at, is_tombstone=True)
        if self.accept("VALUES"):
            return self._assert_values(at, is_tombstone=False)
        if self.goes_on_with("STREAM") or self.goes_on_with("TABLE"):
            return self._assert_source(at)
        exists = not self.accept("NOT", "EXISTS")
        if self.expect_one_of("TOPIC", "SCHEMA") == "TOPIC":
            head = self.head
            topic = self._name_or_string("the name of a topic")
            topic = self.text[head.start : head.end] if head.kind is TokenKind.WORD else topic
            return tree.AssertTopic(topic, self._properties(), self._timeout(), exists, at=at)
        subject = self._name_or_string("the name of a subject") if self.accept("SUBJECT") else None
        schema_id = self.integer("the id of a schema") if self.accept("ID") else None
        if subject is None and schema_id is None:
            raise self.unexpected("SUBJECT or ID", ("SUBJECT", "ID"))
        return tree.AssertSchema(subject, schema_id, self._timeout(), exists, at=at)

    def _timeout(self) -> Any:
        return self.duration() if self.accept("TIMEOUT") else None

    def _assert_values(self, at: Position, *, is_tombstone: bool) -> Statement:
        target = self.name("the name of a stream or table")
        columns = self._names() if self.goes_on_with("(") else ()
        value_at = self.at
        self.expect_one_of("KEY", "VALUES") if is_tombstone else self.expect("VALUES")
        self.expect("(")
        values = self.expressions(")")
        if columns and len(columns) != len(values):
            raise self.error(f"{len(columns)} columns are named and {len(values)} values given", value_at)
        return tree.AssertValues(target, columns, values, is_tombstone, at=at)

    def _assert_source(self, at: Position) -> Statement:
        kind = Kind[self.expect_one_of("STREAM", "TABLE")]
        name = self.name(f"the name of the {kind.value.lower()}")
        columns = self._column_definitions() if self.goes_on_with("(") else ()
        return tree.AssertSource(tree.CreateSource(kind, name, columns, self._properties(), at=at), at=at)

    def run_script(self) -> Statement:
        at = self.at
        self.expect("RUN", "SCRIPT")
        return tree.RunScript(self.string("the name of a file, in quotes"), at=at)

    def _name_or_string(self, what: str) -> str:
        return self.take().text if self.head.kind is TokenKind.STRING else self.name(what)


_NO_STATEMENTS: Final = {
    "DELETE": "A record with a null value in the topic of a table deletes the row with its key: "
    "moldau produce TOPIC --key-separator : --null-marker NULL sends one for the line KEY:NULL.",
    "UPDATE": "INSERT INTO a table with the key of a row writes the row again.",
}
"""What other databases have and people look for."""

_RULES: Final[dict[str, Callable[[StatementParser], Statement]]] = {
    "SELECT": StatementParser.select,
    "CREATE": StatementParser.create,
    "DROP": StatementParser.drop,
    "ALTER": StatementParser.alter,
    "INSERT": StatementParser.insert,
    "SHOW": StatementParser.show,
    "LIST": StatementParser.show,
    "DESCRIBE": StatementParser.describe,
    "PRINT": StatementParser.print,
    "EXPLAIN": StatementParser.explain,
    "TERMINATE": StatementParser.query_control,
    "PAUSE": StatementParser.query_control,
    "RESUME": StatementParser.query_control,
    "SET": StatementParser.set,
    "UNSET": StatementParser.unset,
    "DEFINE": StatementParser.define,
    "UNDEFINE": StatementParser.undefine,
    "ASSERT": StatementParser.assertion,
    "RUN": StatementParser.run_script,
}
