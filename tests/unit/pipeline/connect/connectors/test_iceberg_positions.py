"""How far IcebergSink has got: a put that is made again is no topic that was made again."""

import pytest

from moldau.pipeline.connect.api import ConnectError, TopicPartition
from moldau.pipeline.connect.connectors.iceberg.positions import Positions

ORDERS = TopicPartition("orders", 0)


def test_a_put_that_is_repeated_does_not_go_back() -> None:
    positions = Positions("lake")
    places = [(ORDERS, 0), (ORDERS, 1)]
    positions.begin(places)
    assert positions.takes(*places[0])
    positions.took(*places[0])
    positions.failed(places)
    positions.begin(places)
    assert [positions.takes(*one) for one in places] == [False, True]
    positions.took(*places[1])
    positions.ended()
    positions.begin(places)
    with pytest.raises(ConnectError, match=r"came the record 0"):
        positions.takes(*places[0])
