"""The statements of the SQL benchmark, their input, and the programs that the engine makes of them."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson
from confluent_kafka import Producer

from moldau.pipeline.sql.engine import Catalog, Facts, Session, TopicFacts, decide
from moldau.pipeline.sql.engine.program import program_of
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.syntax.parser import parse
from pipeline_arena import KEYS, PARTITIONS

TEXTS: Final = ("red", "green", "Blue", "  amber ", "violet")
SEED: Final = 7
DIFFERENT_VALUES: Final = 20_000
"""So many objects are made, and sent again and again with other keys: making one for each record would take minutes."""
RECORDS_PER_MS: Final = 10
TABLE_AGE_MS: Final = 1_000_000

VIEWS: Final = (
    "CREATE STREAM VIEWS (ID STRING KEY, AT BIGINT, PAGE STRING, REGION STRING, AGENT STRING, SESSION STRING, "
    "AMOUNT INTEGER, PRICE DOUBLE, RATE DOUBLE, IS_NEW BOOLEAN, REFERRER STRING) "
    "WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON');"
)
USERS: Final = (
    "CREATE TABLE USERS (ID STRING PRIMARY KEY, NAME STRING, LEVEL INTEGER) "
    "WITH (KAFKA_TOPIC='users', VALUE_FORMAT='JSON');"
)
WIDE: Final = (
    "CREATE STREAM WIDE (ID STRING KEY, I1 INT, I2 INT, I3 INT, I4 INT, I5 INT, G1 BIGINT, G2 BIGINT, G3 BIGINT, "
    "G4 BIGINT, AT BIGINT, D1 DOUBLE, D2 DOUBLE, D3 DOUBLE, D4 DOUBLE, D5 DOUBLE, T1 STRING, T2 STRING, T3 STRING, "
    "T4 STRING, T5 STRING) WITH (KAFKA_TOPIC='wide', VALUE_FORMAT='JSON');"
)
EXPRESSIONS: Final = (
    "I1 + I2 * 2",
    "I2 - I3",
    "I3 * I4",
    "G1 - G2",
    "G3 + I1",
    "G4 % 1000",
    "D1 * 1.5E0 + D2",
    "D3 / D4",
    "D5 - D1",
    "ABS(D2 - D3)",
    "D4 * I5",
    "FLOOR(D3)",
    "CASE WHEN I1 > 500 THEN 'high' WHEN I1 > 100 THEN 'middle' ELSE 'low' END",
    "CASE WHEN I2 % 2 = 0 THEN T1 ELSE 'odd' END",
    "CASE WHEN D1 < 50E0 THEN T2 ELSE T3 END",
    "CASE WHEN T1 = 'red' THEN 'stop' WHEN T1 = 'green' THEN 'go' ELSE 'wait' END",
    "CASE WHEN G1 > G2 AND I3 > 10 THEN 'left' ELSE 'right' END",
    "UCASE(T1)",
    "LCASE(T2)",
    "T1 || '-' || T2",
    "CONCAT(T3, T4)",
    "SUBSTRING(T4, 1, 5)",
    "TRIM(T3)",
    "REPLACE(T4, 'o', '0')",
    "LEN(T4)",
    "I4 > 10 AND D1 < 100E0",
    "T1 = T2",
    "CAST(T5 AS BIGINT)",
    "CAST(I5 AS STRING)",
    "FORMAT_TIMESTAMP(FROM_UNIXTIME(AT), 'yyyy-MM-dd HH:mm:ss', 'UTC')",
)
WIDE_ITEMS: Final = ", ".join(f"{text} AS E{number}" for number, text in enumerate(EXPRESSIONS, 1))


@dataclass(frozen=True)
class Case:
    name: str
    sources: tuple[str, ...]
    """The CREATE statements of what it reads."""
    topic: str
    """The one with the backlog."""
    query: str
    kind: str = "STREAM"

    @property
    def is_table(self) -> bool:
        """Then each side may leave out all but the last change of a key."""
        return self.kind == "TABLE"


CASES: Final = {
    one.name: one
    for one in (
        Case(
            "filter",
            (VIEWS,),
            "views",
            "SELECT ID, PAGE, AMOUNT * 2 AS DOUBLED, REGION FROM VIEWS WHERE AMOUNT > 50",
        ),
        Case("wide", (WIDE,), "wide", f"SELECT ID, {WIDE_ITEMS} FROM WIDE"),
        Case(
            "count",
            (VIEWS,),
            "views",
            "SELECT ID, COUNT(*) AS N FROM VIEWS WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY ID",
            "TABLE",
        ),
        Case(
            "join",
            (VIEWS, USERS),
            "views",
            "SELECT V.ID AS ID, V.PAGE AS PAGE, V.AMOUNT AS AMOUNT, U.NAME AS NAME, U.LEVEL AS LEVEL "
            "FROM VIEWS V JOIN USERS U ON V.ID = U.ID",
        ),
    )
}


def program(case: Case, sink: str, application_id: str) -> str:
    """The program of the case's persistent query, which writes to the topic `sink`."""
    functions = builtin()
    catalog = Catalog(functions)
    facts = Facts({name: TopicFacts(PARTITIONS) for name in ("views", "users", "wide", sink)})
    session = Session({"auto.offset.reset": "earliest"})
    created = f"CREATE {case.kind} RESULT WITH (KAFKA_TOPIC='{sink}', VALUE_FORMAT='JSON') AS {case.query};"
    for text in (*case.sources, created):
        parsed = parse(text)[0]
        decision = decide(parsed.text, parsed.statement, catalog, session, facts, functions)
        assert decision.command is not None
        applied = catalog.replay(decision.command, catalog.next_offset)
        assert applied.change is not None, applied.message
    (query_id,) = catalog.queries
    return program_of(query_id, catalog, application_id=application_id).to_json()


def fill(servers: str, topics: set[str], records: int) -> None:
    """The table first and older, so that joins find their partners."""
    settings = {"linger.ms": 20, "batch.num.messages": 50_000, "queue.buffering.max.messages": 2_000_000}
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random", **settings})
    start_ms = int(time.time() * 1000) - records // RECORDS_PER_MS
    for number in range(KEYS):
        user = orjson.dumps({"NAME": f"name {number}", "LEVEL": number % 9})
        producer.produce("users", user, b"key-%d" % number, timestamp=start_ms - TABLE_AGE_MS)
    for topic, make in MAKERS.items():
        if topic not in topics:
            continue
        values = list(_values(make))
        for number in range(records):
            value, key = values[number % DIFFERENT_VALUES], b"key-%d" % (number % KEYS)
            producer.produce(topic, value, key, timestamp=start_ms + number // RECORDS_PER_MS)
            if number % 10_000 == 0:
                producer.poll(0)
        producer.flush()


def _values(make: Callable[[random.Random], dict[str, Any]]) -> Iterator[bytes]:
    chance = random.Random(SEED)
    for _ in range(DIFFERENT_VALUES):
        yield orjson.dumps(make(chance))


def _view(chance: random.Random) -> dict[str, Any]:
    number = chance.randrange(10**6)
    return {
        "AT": 1_700_000_000_000 + number,
        "PAGE": f"/products/{number % 997}",
        "REGION": f"region-{number % 12}",
        "AGENT": "Mozilla/5.0 (X11; Linux x86_64)",
        "SESSION": f"{number:016x}",
        "AMOUNT": number % 101,
        "PRICE": round(chance.random() * 100, 2),
        "RATE": round(chance.random(), 4),
        "IS_NEW": number % 3 == 0,
        "REFERRER": "https://example.com/",
    }


def _wide(chance: random.Random) -> dict[str, Any]:
    whole = {f"I{n}": chance.randrange(1, 1000) for n in range(1, 6)}
    large = {f"G{n}": chance.randrange(10**9, 10**12) for n in range(1, 5)}
    double = {f"D{n}": round(0.5 + chance.random() * 100, 3) for n in range(1, 6)}
    text = {f"T{n}": chance.choice(TEXTS) for n in range(1, 4)}
    at = {"AT": 1_700_000_000_000 + chance.randrange(10**9), "T4": f"a longer note, no {whole['I1']}"}
    return {**whole, **large, **at, **double, **text, "T5": str(large["G1"])}


MAKERS: Final = {"views": _view, "wide": _wide}
