"""One server of each kind for the module, and an empty database for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from jdbc_kit import ServedShop, Shop, shop_of

from database_servers import DatabaseServer, mariadb, postgresql


@pytest.fixture(scope="module")
def postgresql_server() -> Iterator[DatabaseServer]:
    with postgresql() as found:
        yield found


@pytest.fixture(scope="module")
def mariadb_server() -> Iterator[DatabaseServer]:
    with mariadb() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    """On each kind of database."""
    server = tmp_path if request.param == "sqlite" else request.getfixturevalue(f"{request.param}_server")
    made = shop_of(server)
    yield made
    made.close()


@pytest.fixture(params=["postgresql", "mariadb"])
def served(request: pytest.FixtureRequest) -> Iterator[ServedShop]:
    """On each kind of database that has a server."""
    made = shop_of(request.getfixturevalue(f"{request.param}_server"))
    assert isinstance(made, ServedShop)
    yield made
    made.close()
