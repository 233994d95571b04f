"""Options of the whole test suite."""

import pytest
from hypothesis import settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--against-kafka",
        action="store_true",
        help="run the compatibility tests against Apache Kafka too, which proves the tests themselves",
    )
    parser.addoption(
        "--rounds",
        type=int,
        default=3,
        help="how many times the end-to-end cluster is hurt while clients write and read; 60 before a release",
    )
    parser.addoption("--chaos-seed", type=int, default=None, help="of the faults; printed with every failure")
