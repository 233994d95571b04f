"""`moldau sql migrate`: numbered files of statements, each applied once."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.sql.server.sql_process import SqlClient, SqlProcess
from e2e.sql.shell.conftest import Run

pytestmark = pytest.mark.slow

_numbers = itertools.count(1)


class Shop:
    """A project with a record of its own on the server that all tests share."""

    def __init__(self, folder: Path, run: Run) -> None:
        self.folder = folder
        self._run = run

    def migrate(self, *arguments: str) -> tuple[int, str]:
        """The exit code, and what was printed."""
        config = str(self.folder / "ksql-migrations.properties")
        done = self._run("migrate", "--config-file", config, *arguments)
        return done.returncode, done.stdout + done.stderr

    def add(self, name: str, statements: str) -> Path:
        code, told = self.migrate("create", name)
        assert code == 0, told
        file = max((self.folder / "migrations").glob("*.sql"))
        file.write_text(statements)
        return file

    def states(self) -> dict[int, str]:
        code, told = self.migrate("info", "--output", "json")
        assert code == 0, told
        return {int(one["version"]): one["state"] for one in json.loads(told)["migrations"]}


@pytest.fixture
def new_shop(sql: SqlProcess, tmp_path: Path, moldau_sql: Run) -> Callable[[], Shop]:
    def make() -> Shop:
        folder = tmp_path / "shop"
        assert moldau_sql("migrate", "new-project", str(folder), sql.client.url).returncode == 0
        number = next(_numbers)
        with (folder / "ksql-migrations.properties").open("a") as config:
            config.write(f"ksql.migrations.stream.name=EVENTS{number}\n")
            config.write(f"ksql.migrations.table.name=VERSIONS{number}\n")
        return Shop(folder, moldau_sql)

    return make


@pytest.fixture
def shop(new_shop: Callable[[], Shop]) -> Shop:
    shop = new_shop()
    code, told = shop.migrate("initialize-metadata")
    assert code == 0, told
    return shop


def create(name: str) -> str:
    return (
        f"CREATE STREAM {name} (ID STRING KEY, N STRING) "
        f"WITH (KAFKA_TOPIC='{name}', VALUE_FORMAT='JSON', PARTITIONS=1);\n"
    )


def test_each_migration_is_applied_once(shop: Shop, client: SqlClient) -> None:
    shop.add(
        "Add orders", create("ORDERS") + "DEFINE n = 'one; two';\nINSERT INTO ORDERS VALUES ('a', '${n}');"
    )
    shop.add("Add offers", create("${name}"))
    assert shop.states() == {1: "PENDING", 2: "PENDING"}
    assert "INSERT INTO ORDERS" in shop.migrate("apply", "--next", "--dry-run")[1]
    assert shop.states() == {1: "PENDING", 2: "PENDING"}
    assert shop.migrate("apply", "--next")[0] == 0
    assert client.rows("SELECT * FROM ORDERS;") == [["a", "one; two"]]
    assert shop.migrate("apply", "--all", "--define", "name=OFFERS")[0] == 0
    assert client.rows("SELECT * FROM OFFERS;") == []
    assert shop.states() == {1: "MIGRATED", 2: "MIGRATED"}
    assert shop.migrate("apply", "--all") == (0, "Nothing to apply.\n")
    assert client.rows("SELECT * FROM ORDERS;") == [["a", "one; two"]]
    assert shop.migrate("validate") == (0, "2 applied migrations unchanged.\n")


def test_a_migration_that_fails_is_applied_again_when_mended(shop: Shop) -> None:
    file = shop.add("Add bills", "CREATE STREAM BILLED AS SELECT * FROM BILLS;")
    code, told = shop.migrate("apply", "--all")
    assert code == 1
    assert "BILLS does not exist" in told
    assert shop.states() == {1: "ERROR"}
    assert "BILLS does not exist" in shop.migrate("info")[1]
    file.write_text(create("BILLS"))
    assert shop.migrate("apply", "--until", "1")[0] == 0
    assert shop.states() == {1: "MIGRATED"}


def test_a_file_that_changed_after_it_was_applied(shop: Shop) -> None:
    file = shop.add("Add notes", create("NOTES"))
    assert shop.migrate("apply", "--version", "1")[0] == 0
    file.write_text(create("OTHER_NOTES"))
    for command in (("validate",), ("apply", "--all")):
        code, told = shop.migrate(*command)
        assert code == 1
        assert "is not as it was when it was applied" in told
    file.unlink()
    assert "was applied, and has no file here" in shop.migrate("validate")[1]


def test_the_record_is_destroyed_and_what_was_applied_stays(shop: Shop, client: SqlClient) -> None:
    shop.add("Add cards", create("CARDS"))
    assert shop.migrate("apply", "--all")[0] == 0
    assert shop.migrate("destroy-metadata", "--yes") == (0, "Deleted.\n")
    assert "initialize-metadata" in shop.migrate("info")[1]
    assert client.rows("SELECT * FROM CARDS;") == []


@pytest.mark.parametrize(
    ("statements", "complaint"),
    [
        ("SELECT * FROM ORDERS;", "a statement that changes nothing"),
        ("DROP STREAM ORDERS", "ends within a statement"),
    ],
)
def test_what_cannot_be_applied(statements: str, complaint: str, shop: Shop) -> None:
    shop.add("Look", statements)
    code, told = shop.migrate("apply", "--all")
    assert code == 1
    assert complaint in told
    assert shop.states() == {1: "PENDING"}


def test_misuse(new_shop: Callable[[], Shop], moldau_sql: Run) -> None:
    shop = new_shop()
    assert "initialize-metadata" in shop.migrate("info")[1]
    assert shop.migrate("apply")[0] == 2
    assert "cannot be the name of a file" in shop.migrate("create", "a/b")[1]
    assert "new-project" in moldau_sql("migrate", "info").stderr
    (shop.folder / "migrations" / "first.sql").touch()
    assert "a name that no migration can have" in shop.migrate("create", "Second")[1]
