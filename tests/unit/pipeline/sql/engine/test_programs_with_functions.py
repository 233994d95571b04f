"""Queries that call functions of the user, as programs for another process."""

from pathlib import Path

import pytest

from moldau.pipeline.sql.engine import Catalog, Command, topology_from
from moldau.pipeline.sql.engine.program import program_of
from moldau.pipeline.sql.functions.user.loading import library_of
from moldau.pipeline.sql.syntax.errors import SqlError

FUNCTION = """
from moldau.pipeline.sql.functions.user import udf

@udf
def shout(text: str) -> str:
    return text.upper()
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    """Of a query that calls SHOUT, from the file shout.py."""
    (tmp_path / "shout.py").write_text(FUNCTION)
    catalog = Catalog(library_of([str(tmp_path)], with_packages=False))
    for offset, (name, text) in enumerate(
        (
            ("S", "CREATE STREAM s (a STRING) WITH (kafka_topic='s', value_format='JSON', partitions=1);"),
            ("LOUD", "CREATE STREAM loud AS SELECT SHOUT(a) AS a FROM s;"),
        )
    ):
        assert catalog.replay(Command("stream", name, "create", text), offset).is_done
    return program_of("CSAS_LOUD_1", catalog, (str(tmp_path),)).to_json()


def test_a_program_finds_the_functions(program: str) -> None:
    assert topology_from(program).source_topics == ("s",)


def test_a_broken_file_beside_them_does_no_harm(program: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def\n")
    assert topology_from(program).source_topics == ("s",)


def test_a_function_that_cannot_be_loaded_any_more_comes_with_the_reason(
    program: str, tmp_path: Path
) -> None:
    (tmp_path / "shout.py").write_text("def\n")
    with pytest.raises(SqlError) as failure:
        topology_from(program)
    assert "unknown function SHOUT" in str(failure.value)
    assert f"{tmp_path / 'shout.py'}, line 1" in str(failure.value)
