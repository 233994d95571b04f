"""The test kit: a real broker inside the test's own process; a fake one, and a driver for topologies, that need none.

Names are imported when they are first used: the pytest plugin lives in this package, and every run of pytest
in an environment that has Moldau imports it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moldau.core.error_codes import ErrorCode as ErrorCode
    from moldau.testing.fakes.fake_consumer import FakeConsumer as FakeConsumer
    from moldau.testing.fakes.fake_kafka import FakeKafka as FakeKafka
    from moldau.testing.fakes.fake_producer import FakeProducer as FakeProducer
    from moldau.testing.faults import Fault as Fault
    from moldau.testing.faults import Faults as Faults
    from moldau.testing.local_cluster import LocalCluster as LocalCluster
    from moldau.testing.local_registry import LocalRegistry as LocalRegistry
    from moldau.testing.moved_clock import MovedClock as MovedClock
    from moldau.testing.topology_test_driver import TopologyTestDriver as TopologyTestDriver

_HOMES = {
    "ErrorCode": "moldau.core.error_codes",
    "FakeConsumer": "moldau.testing.fakes.fake_consumer",
    "FakeKafka": "moldau.testing.fakes.fake_kafka",
    "FakeProducer": "moldau.testing.fakes.fake_producer",
    "Fault": "moldau.testing.faults",
    "Faults": "moldau.testing.faults",
    "LocalCluster": "moldau.testing.local_cluster",
    "LocalRegistry": "moldau.testing.local_registry",
    "MovedClock": "moldau.testing.moved_clock",
    "TopologyTestDriver": "moldau.testing.topology_test_driver",
}

__all__ = [
    "ErrorCode",
    "FakeConsumer",
    "FakeKafka",
    "FakeProducer",
    "Fault",
    "Faults",
    "LocalCluster",
    "LocalRegistry",
    "MovedClock",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
