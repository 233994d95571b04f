"""A catalog with a few streams, tables and queries, and statements decided against it."""

from moldau.pipeline.sql.engine import Catalog, Command, Decision, Facts, Session, decide, needs
from moldau.pipeline.sql.engine.facts import Needs
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.syntax.parser import parse

STATEMENTS = (
    "CREATE STREAM orders (id INT KEY, region STRING, amount DOUBLE, day DATE, price DECIMAL(6, 2), raw BYTES, "
    "tags ARRAY<BIGINT>, trace BYTES HEADER('trace')) "
    "WITH (kafka_topic='orders', value_format='JSON', partitions=2);",
    "CREATE TABLE users (id INT PRIMARY KEY, name STRING) "
    "WITH (kafka_topic='users', value_format='JSON', partitions=2);",
    "CREATE SOURCE TABLE rates (code STRING PRIMARY KEY, rate DOUBLE) "
    "WITH (kafka_topic='rates', value_format='JSON', partitions=2);",
    "CREATE TABLE per_region AS SELECT region, COUNT(*) AS n, SUM(amount) AS total FROM orders "
    "WINDOW HOPPING (SIZE 30 SECONDS, ADVANCE BY 10 SECONDS, GRACE PERIOD 1 MINUTE) "
    "WHERE amount > 0 GROUP BY region HAVING COUNT(*) > 1;",
    "CREATE STREAM enriched AS SELECT o.id, o.region, u.name FROM orders o LEFT JOIN users u ON o.id = u.id;",
)


def shop() -> Catalog:
    catalog = Catalog(builtin())
    for offset, text in enumerate(STATEMENTS):
        [parsed] = parse(text)
        entity = parsed.statement.kind.value.lower()  # type: ignore[attr-defined]
        applied = catalog.replay(Command(entity, parsed.statement.name, "create", text), offset)  # type: ignore[attr-defined]
        assert applied.is_done, applied.message
    return catalog


def decided(
    text: str, catalog: Catalog | None = None, session: Session | None = None, facts: Facts | None = None
) -> Decision:
    [parsed] = parse(text)
    known = shop() if catalog is None else catalog
    return decide(parsed.text, parsed.statement, known, session or Session(), facts or Facts(), known.library)


def needed(text: str, catalog: Catalog | None = None) -> Needs:
    [parsed] = parse(text)
    return needs(parsed.statement, shop() if catalog is None else catalog)
