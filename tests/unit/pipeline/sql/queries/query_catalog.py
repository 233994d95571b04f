"""A catalog with a stream, a table and windowed tables, for tests of queries."""

from moldau.pipeline.sql.engine import Catalog, Facts, Session, TopicFacts, decide
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.syntax.parser import parse

STATEMENTS = """
CREATE STREAM VIEWS (USERID STRING KEY, PAGE STRING, MS INTEGER)
  WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON');
CREATE TABLE USERS (ID STRING PRIMARY KEY, NAME STRING, AGE INTEGER)
  WITH (KAFKA_TOPIC='users', VALUE_FORMAT='JSON');
CREATE TABLE PAIRS (A INTEGER PRIMARY KEY, B STRING PRIMARY KEY, C DOUBLE)
  WITH (KAFKA_TOPIC='pairs', FORMAT='JSON');
CREATE TABLE PER_MINUTE (ID STRING PRIMARY KEY, N BIGINT)
  WITH (KAFKA_TOPIC='per-minute', VALUE_FORMAT='JSON', WINDOW_TYPE='TUMBLING', WINDOW_SIZE='1 MINUTES');
CREATE TABLE VISITS (ID STRING PRIMARY KEY, N BIGINT)
  WITH (KAFKA_TOPIC='visits', VALUE_FORMAT='JSON', WINDOW_TYPE='SESSION');
"""


def query_catalog(statements: str = STATEMENTS) -> Catalog:
    catalog = Catalog(builtin())
    for parsed in parse(statements):
        facts = Facts({name: TopicFacts(1) for name in ("views", "users", "pairs", "per-minute", "visits")})
        decision = decide(parsed.text, parsed.statement, catalog, Session(), facts, builtin())
        assert decision.command is not None
        applied = catalog.replay(decision.command, catalog.next_offset)
        assert applied.is_done, applied.message
    return catalog
