"""DESCRIBE."""

from dataclasses import replace

import pytest
from shop_catalog import decided, needed

from moldau.pipeline.sql.engine import Catalog, Facts, TopicFacts
from moldau.pipeline.sql.engine.answers import DescribeFunction, SourceDescription, SourceDescriptions
from moldau.pipeline.sql.functions.declaration import Category, Scalar
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.syntax.errors import SqlError


def test_a_source_with_what_reads_and_writes_it() -> None:
    answer = decided("DESCRIBE orders;").answer
    assert isinstance(answer, SourceDescription)
    assert [one.id for one in answer.read_queries] == ["CTAS_PER_REGION_3", "CSAS_ENRICHED_4"]
    assert answer.write_queries == ()
    assert answer.constraints == ("ENRICHED", "PER_REGION")
    assert answer.statement.startswith("CREATE STREAM")
    written = decided("DESCRIBE per_region;").answer
    assert isinstance(written, SourceDescription)
    assert [one.id for one in written.write_queries] == ["CTAS_PER_REGION_3"]
    assert written.window_type == "HOPPING"


def test_extended_has_the_topic() -> None:
    assert needed("DESCRIBE orders EXTENDED;").topics == ("orders",)
    assert needed("DESCRIBE orders;").topics == ()
    facts = Facts(topics={"orders": TopicFacts(3, 2)})
    answer = decided("DESCRIBE orders EXTENDED;", facts=facts).answer
    assert isinstance(answer, SourceDescription)
    assert (answer.is_extended, answer.partitions, answer.replicas) == (True, 3, 2)


def test_all_tables() -> None:
    answer = decided("DESCRIBE TABLES;").answer
    assert isinstance(answer, SourceDescriptions)
    assert [one.source.name for one in answer.descriptions] == ["PER_REGION", "RATES", "USERS"]


def test_a_function_with_its_forms() -> None:
    answer = decided("DESCRIBE FUNCTION greatest;").answer
    assert isinstance(answer, DescribeFunction)
    assert (answer.name, answer.type, answer.path) == ("GREATEST", "SCALAR", "(internal)")
    assert any(argument.is_variadic for one in answer.variations for argument in one.arguments)
    assert all(one.returns for one in answer.variations)
    aggregate = decided("DESCRIBE FUNCTION COUNT;").answer
    assert isinstance(aggregate, DescribeFunction)
    assert "BIGINT" in {one.returns for one in aggregate.variations}


def described(function: Scalar) -> DescribeFunction:
    answer = decided("DESCRIBE FUNCTION F;", Catalog(builtin().with_user([function]))).answer
    assert isinstance(answer, DescribeFunction)
    return answer


def test_a_function_has_the_author_that_it_names() -> None:
    of_user = Scalar("F", Category.OTHER, "", (), path="ext/f.py")
    assert described(of_user).author == ""
    assert described(replace(of_user, author="Jana")).author == "Jana"
    assert described(replace(of_user, path="")).author == "Moldau"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("DESCRIBE ordres;", "Did you mean ORDERS?"),
        ("DESCRIBE FUNCTION cuont;", "Did you mean COUNT?"),
    ],
)
def test_what_is_not_there_is_suggested(text: str, hint: str) -> None:
    with pytest.raises(SqlError) as failure:
        decided(text)
    assert hint in str(failure.value)


def test_connectors_are_another_service() -> None:
    assert decided("DESCRIBE CONNECTOR c;").forward is not None
