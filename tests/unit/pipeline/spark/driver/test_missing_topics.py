"""A topic that is not there is named with the line that reads it, before anything else is done."""

import pytest
from confluent_kafka.admin import AdminClient

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.driver.topics import prepare_topics
from moldau.pipeline.streams import StreamsBuilder
from moldau.testing import LocalCluster


def test_a_missing_topic() -> None:
    builder = StreamsBuilder("shop")
    line = builder._draft.here().line + 1
    builder.stream("orders").join(builder.table("names"), lambda order, name: order).to("out")
    with LocalCluster() as cluster, pytest.raises(ConfigError) as caught:
        prepare_topics(
            AdminClient({"bootstrap.servers": cluster.bootstrap_servers}), builder.build(), {}, None
        )
    assert str(caught.value).startswith(
        f"{__file__}:{line}: the application reads orders, names, which does not"
    )
    assert "moldau topics create orders" in str(caught.value)
