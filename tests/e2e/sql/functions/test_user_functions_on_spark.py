"""Functions of the user in Spark's workers: sent with their file, set up once, interrupted, failing by choice."""

import json
from pathlib import Path

import pytest

from e2e.spark.kit import Sent, committed, create_topics, running, send, wait_caught_up
from moldau.pipeline.sql.engine import Catalog, Command, topology_from
from moldau.pipeline.sql.engine.program import program_of
from moldau.pipeline.sql.functions.user.loading import library_of

pytestmark = pytest.mark.slow

FUNCTIONS = """
import os
from pathlib import Path
from moldau.pipeline.sql.functions.user import udf

def load_limit():
    (Path(__file__).parent / f"setup-{os.getpid()}-{os.urandom(4).hex()}").touch()
    return 3.0

@udf(setup=load_limit)
def level(limit, value: float) -> str:
    return "high" if value > limit else "low"

@udf(time_limit_ms=500)
def sometimes_endless(value: float) -> str:
    while value == 7:
        pass
    return "ok"

@udf(on_error="dead_letter")
def sometimes_wrong(value: float) -> str:
    if value == 8:
        raise RuntimeError("eight")
    return "ok"
"""
STATEMENTS = (
    "CREATE STREAM readings (id STRING KEY, x DOUBLE) "
    "WITH (kafka_topic='udf-in', value_format='JSON', partitions=2);",
    "CREATE STREAM judged WITH (kafka_topic='udf-out') AS SELECT id, LEVEL(x) AS level, "
    "SOMETIMES_ENDLESS(x) AS slow, SOMETIMES_WRONG(x) AS hard FROM readings;",
)


def test_functions_run_in_the_workers(servers: str, tmp_path: Path) -> None:
    folder = tmp_path / "functions"
    folder.mkdir()
    (folder / "mine.py").write_text(FUNCTIONS)
    create_topics(servers, udf_in=2, udf_out=2)
    catalog = Catalog(library_of([str(folder)]))
    properties = {"auto.offset.reset": "earliest"}
    for offset, text in enumerate(STATEMENTS):
        applied = catalog.replay(Command("stream", f"S{offset}", "create", text, properties), offset)
        assert applied.is_done, applied.message
    [query_id] = catalog.queries
    topology = topology_from(program_of(query_id, catalog, (str(folder),)).to_json())
    send(servers, "udf-in", [Sent(f"k{n}", json.dumps({"X": float(n)}), n % 2) for n in range(12)])
    with running(topology, servers, tmp_path / "checkpoint") as app:
        wait_caught_up(app)
        send(servers, "udf-in", [Sent(f"k{n}", json.dumps({"X": float(n)}), n % 2) for n in range(20, 30)])
        wait_caught_up(app)
    found = {record.key: json.loads(record.value or b"{}") for record in committed(servers, "udf-out")}
    expected = {
        b"k%d" % n: {
            "LEVEL": "high" if n > 3 else "low",
            "SLOW": None if n == 7 else "ok",
            "HARD": "ok",
        }
        for n in (*range(12), *range(20, 30))
        if n != 8
    }
    assert found == expected
    [dead] = committed(servers, f"{query_id}-dlq")
    assert dead.key == b"k8"
    line = FUNCTIONS.splitlines().index('        raise RuntimeError("eight")') + 1
    message = dead.headers["__streams.errors.message"].decode()
    assert message == f"SOMETIMES_WRONG: RuntimeError: eight ({folder / 'mine.py'}, line {line})"
    setups = [file.name.split("-")[1] for file in folder.glob("setup-*")]
    assert setups and len(setups) == len(set(setups)), "each process sets the function up once"
