"""The test kit: real brokers inside the test's own process, a fake cluster, and a driver for topologies.

`__all__` lists the public names; `pytest_plugin.py` has the fixtures, and docs/guides/testing.md shows them in use.
Start reading at `local_cluster.py`.

    local_cluster.py, local_broker.py, broker_thread.py      real brokers on threads; moved_clock.py moves their time
    cluster_security.py                                      TLS, logins and rules of access for them
    faults.py, faulty_session.py, failed_answers.py          faults that a test arms
    local_registry.py                                        a real schema registry
    topology_test_driver.py                                  a topology without a broker or Spark
    fakes/                                                   a cluster in memory with confluent-kafka's interface
    simulation/                                              clock, network and disk for Moldau's own tests; not public

Only tests import this package, Moldau's or a user's. Names are imported on first use, because every run of pytest in an
environment that has Moldau imports the plugin and with it this package.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moldau.core.error_codes import ErrorCode as ErrorCode
    from moldau.testing.cluster_security import Security as Security
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
    "Security": "moldau.testing.cluster_security",
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
    "Security",
    "TopologyTestDriver",
]
"""The public names. Everything else in this package may change without notice."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
