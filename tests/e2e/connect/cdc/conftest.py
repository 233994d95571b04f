"""One PostgreSQL server with logical decoding for the folder, and an empty database for each test."""

from collections.abc import Iterator

import psycopg
import pytest

from connect_kit import eventually
from database_servers import DatabaseServer, postgresql
from e2e.connect.cdc.cdc_kit import Shop, connect_to, new_shop


@pytest.fixture(scope="package")
def server() -> Iterator[DatabaseServer]:
    with postgresql() as found:
        found.stop()
        for option in ("wal_level=logical", "max_replication_slots=10", "wal_sender_timeout=20s"):
            found.command += ["-c", option]
        # Processes of the first start hold its port and memory for a moment.
        eventually(found.start, "the server starts again")
        eventually(lambda: accepts(found), "the server accepts connections")
        yield found


def accepts(server: DatabaseServer) -> bool:
    try:
        connect_to(server, "postgres").close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.fixture
def shop(server: DatabaseServer, request: pytest.FixtureRequest) -> Iterator[Shop]:
    made = new_shop(server)
    yield made
    made.close()
