from collections.abc import Iterator

import pytest

from compat.access.sides import Side, both_sides
from kafka_jars import KafkaJarsUnavailable


@pytest.fixture(scope="package")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Side, Side]]:
    """Moldau and Apache Kafka, with a login for each user and rules of access."""
    try:
        with both_sides(tmp_path_factory.mktemp("sides")) as found:
            yield found
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
