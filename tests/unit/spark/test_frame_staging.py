"""Staged rows: a few in the message, many in a file, and nothing left behind."""

from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")

import pyarrow as pa

from moldau.core.errors import ConfigError
from moldau.spark.options import SinkOptions
from moldau.spark.staging import INLINE_BYTES_MAX, remove_leftovers, stage, staging_folder

SMALL = pa.RecordBatch.from_pydict({"value": pa.array([b"a", None, b"c"])})
LARGE = pa.RecordBatch.from_pydict({"value": pa.array([b"x" * (INLINE_BYTES_MAX // 2)] * 2)})


def test_a_few_rows_need_no_folder() -> None:
    staged = stage(iter([SMALL, SMALL]), "query", 0, None)
    assert (staged.rows, list(staged.batches())) == (6, [SMALL, SMALL])


def test_no_rows_are_no_batches() -> None:
    staged = stage(iter([]), "query", 0, None)
    assert (staged.rows, sum(batch.num_rows for batch in staged.batches())) == (0, 0)


def test_many_rows_go_to_a_file_that_is_removed(tmp_path: Path) -> None:
    staged = stage(iter([SMALL, LARGE, SMALL]), "query", 0, str(tmp_path))
    assert staged.content is None
    assert (staged.rows, list(staged.batches())) == (8, [SMALL, LARGE, SMALL])
    staged.remove()
    staged.remove()
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_dead_tasks_are_removed_and_later_ones_kept(tmp_path: Path) -> None:
    """A file may belong to a batch that comes after this one only if another driver runs: it is not ours to remove."""
    dead, own, later = (stage(iter([LARGE, LARGE]), "query", number, str(tmp_path)) for number in (3, 4, 5))
    twin = stage(iter([LARGE, LARGE]), "query", 4, str(tmp_path))
    remove_leftovers([own], 4)
    assert {file.name for file in tmp_path.iterdir()} == {own.name, later.name}
    assert {dead.name, twin.name}.isdisjoint(file.name for file in tmp_path.iterdir())


def test_where_rows_are_staged() -> None:
    def folder(properties: dict[str, str], **options: str) -> str | None:
        return staging_folder(SinkOptions.parse({"bootstrap.servers": "x", **options}), properties, "q")

    checkpoint = {"checkpointlocation": "s3://b/c/"}
    assert folder({}, **checkpoint) == "s3://b/c/moldau-staging-q"
    assert folder({}, staging="/shared", **checkpoint) == "/shared/moldau-staging-q"
    assert folder({"spark.sql.streaming.checkpointLocation": "/c"}) == "/c/moldau-staging-q"
    assert folder({"spark.master": "spark://host:7077"}) is None
    assert (folder({"spark.master": "local[2]"}) or "").endswith("moldau-staging-q")
    with pytest.raises(ConfigError, match="name one with"):
        stage(iter([LARGE, LARGE]), "query", 0, None)
