"""What it costs to read and write a row of SQL in a format: one core, no broker, the registry's client in memory.

    python bench/sql_formats_micro.py [--rows 50000]

Each line is microseconds per row, the best of five runs: decode, decode of two wanted columns only, encode.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any, Final

from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats import row_serde
from moldau.pipeline.sql.types import BIGINT, BOOLEAN, DOUBLE, INTEGER, STRING, TIMESTAMP, Column

RUNS: Final = 5
TYPES: Final = (BIGINT, STRING, DOUBLE, INTEGER, BOOLEAN, STRING, TIMESTAMP, DOUBLE, DOUBLE, STRING)
VALUES: Final = (
    10**12,
    "a name",
    12.5,
    3,
    True,
    "Praha",
    1_700_000_000_000,
    1.5,
    2.25,
    "a longer note, with words",
)
REGISTRY: Final = (("SCHEMA_REGISTRY_URL", "mock://bench"),)
FORMATS: Final = ("JSON", "JSON_SR", "AVRO", "PROTOBUF", "PROTOBUF_NOSR", "DELIMITED")


def microseconds(function: Callable[[Any], Any], argument: Any, rows: int) -> float:
    best = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(rows):
            function(argument)
        best = min(best, time.perf_counter() - start)
    return best / rows * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    rows = parser.parse_args().rows
    print(f"{'format':15}{'columns':>8}{'decode':>9}{'wanted':>9}{'encode':>9}")
    for name in FORMATS:
        for times in (1, 2):
            columns = [Column(f"COLUMN_{number}", kind) for number, kind in enumerate(TYPES * times, start=1)]
            form = Format(name, REGISTRY)
            serde = row_serde(form, columns, is_key=False)
            some = row_serde(form, columns, is_key=False, wanted=["COLUMN_1", "COLUMN_2"])
            topic = f"{name}-{times}"
            encode = serde.encoder(topic, is_key=False)
            row = VALUES * times
            data = encode(row)
            decode = serde.decoder(topic, is_key=False)
            assert decode(data) == row
            costs = [
                microseconds(decode, data, rows),
                microseconds(some.decoder(topic, is_key=False), data, rows),
                microseconds(encode, row, rows),
            ]
            print(f"{name:15}{len(columns):8}" + "".join(f"{cost:9.2f}" for cost in costs), flush=True)


if __name__ == "__main__":
    main()
