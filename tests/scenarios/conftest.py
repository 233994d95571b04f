"""Options of the scenario scripts."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite", action="store_true", help="write what the scenario scripts print now; read the diff"
    )


@pytest.fixture
def rewrite(request: pytest.FixtureRequest) -> bool:
    # The option exists only when pytest is told to run this folder.
    return bool(request.config.getoption("--rewrite", default=False))
