"""PRINT over a real broker."""

import struct

from e2e.sql.queries.world import World, read
from moldau.pipeline.sql.queries import RowStream
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tree.statements import Print


def printed(world: World, text: str) -> RowStream:
    statement = parse(text)[0].statement
    assert isinstance(statement, Print)
    return world.host.print_topic(statement)


def test_lines_of_a_topic(world: World) -> None:
    world.topic("print-lines")
    world.write("print-lines", *((f"u{n}", {"N": n}, 1_623_321_758_312) for n in range(10)))
    world.write("print-lines", (None, None, 1_623_321_758_312))
    stream = printed(world, "PRINT 'print-lines' FROM BEGINNING LIMIT 11;")
    lines = [line for (line,) in read(stream)]
    assert lines[:3] == [
        "Key format: KAFKA_STRING",
        "Value format: JSON or KAFKA_STRING",
        'rowtime: 2021/06/10 10:42:38.312 Z, key: u0, value: {"N":0}, partition: 0',
    ]
    assert lines[-1].endswith("key: <null>, value: <null>, partition: 0")
    assert stream.end is not None and stream.end.message == "Limit Reached"


def test_every_third_record(world: World) -> None:
    world.topic("print-interval")
    world.write("print-interval", *((struct.pack(">i", n), b"x%d" % n) for n in range(10)))
    stream = printed(world, "PRINT 'print-interval' FROM BEGINNING INTERVAL 3 LIMIT 4;")
    lines = [line for (line,) in read(stream)]
    assert lines[0] == "Key format: KAFKA_INT"
    assert [line.partition("value: ")[2] for line in lines[2:]] == [
        f"x{n}, partition: 0" for n in (0, 3, 6, 9)
    ]


def test_what_is_written_from_now_on(world: World) -> None:
    world.topic("print-latest")
    world.write("print-latest", ("k", b"old"))
    stream = printed(world, "PRINT 'print-latest';")
    world.write("print-latest", ("k", b"new"))
    [*_, (line,)] = read(stream, 3)
    assert "value: new" in line
    stream.close()
