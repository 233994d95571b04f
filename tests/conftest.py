"""Options of the whole test suite."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--against-kafka",
        action="store_true",
        help="run the compatibility tests against Apache Kafka too, which proves the tests themselves",
    )
