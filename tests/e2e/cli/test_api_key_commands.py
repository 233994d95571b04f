"""`moldau api-keys`, and what is printed pasted into a client: the service account TU-05 of the handbook."""

import json
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, TopicPartition

from compat.moldau_broker import MoldauBroker
from compat.server_process import free_port, wait_until
from e2e.cli.shell import Shell
from e2e.cli.test_users import SETTINGS, as_user
from moldau.cli.main import main
from moldau.cli.options import read_properties
from moldau.security.credentials.api_key import ApiKey

ADMIN = as_user("admin", "admin-secret", "PLAIN")
TOPIC = "my-sample-topic"
WAIT_S = 60


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    port = free_port()
    settings = {
        **SETTINGS,
        "listeners": f"SASL_PLAINTEXT://127.0.0.1:{port}",
        "authorizer.class.name": "acl",
        "super.users": "User:admin",
        "offsets.topic.num.partitions": "1",
    }
    broker = MoldauBroker(tmp_path_factory.mktemp("keys"), settings)
    with broker:
        yield Shell(f"127.0.0.1:{port}")


def created(shell: Shell, *options: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(shell.run("api-keys", "create", *options, "--output", "json", *ADMIN))
    return made


def test_service_account_tu_05(shell: Shell, tmp_path: Path) -> None:
    """CC-07: an administrator makes the account, a key and a topic, and grants reading. The application can read, and
    cannot write."""
    shell.run("topics", "create", TOPIC, *ADMIN)
    shell.run("produce", TOPIC, *ADMIN, stdin="first\nsecond\n")
    text = shell.run("api-keys", "create", "--account", "TU-05", "--expires", "90d", *ADMIN)
    client = tmp_path / "tu-05.properties"
    client.write_text(text)
    login = read_properties(str(client))
    name = login["sasl.username"]
    end = datetime.now(UTC).date() + timedelta(90)
    assert name.startswith("TU-05+") and f"valid through {end}" in text
    assert "Rules of access name its client User:TU-05." in text
    assert f'PlainLoginModule required username="{name}" password="{login["sasl.password"]}";' in text

    as_app = ("--command-config", str(client))
    reading = ("consume", TOPIC, "--from-beginning")
    assert "not authorized" in shell.run(*reading, *as_app, code=1)
    shell.run("acls", "add", "User:TU-05", "--topic", TOPIC, "--group", "tu-05", "--consumer", *ADMIN)
    assert shell.run(*reading, *as_app).split() == ["first", "second"]
    assert shell.run(*reading, *as_app, "-X", "sasl.mechanism=SCRAM-SHA-256").split() == ["first", "second"]
    refused = shell.run("produce", TOPIC, *as_app, stdin="third\n", code=1)
    assert refused.startswith("Error: cannot write") and "not authorized" in refused, refused

    errors: list[KafkaError] = []
    app = Consumer(
        {**login, "group.id": "tu-05", "enable.auto.commit": False, "error_cb": errors.append, "log_level": 0}
    )
    app.assign([TopicPartition(TOPIC, 0, 0)])
    read: list[bytes | None] = []

    def has_read() -> bool:
        message = app.poll(0.2)
        if message is not None and message.error() is None:
            read.append(message.value())
        return len(read) == 2

    wait_until(has_read, "the application reads", WAIT_S)
    assert shell.run("api-keys", "delete", name, "--yes", *ADMIN) == f"API key {name} was deleted.\n"

    def is_refused() -> bool:
        app.poll(0.2)
        return any(error.code() == KafkaError._AUTHENTICATION for error in errors)

    wait_until(is_refused, "the connections of the application end, and it cannot log in again", WAIT_S)
    app.close()
    assert "Authentication failed" in shell.run(*reading, *as_app, code=1)


def test_keys_are_listed_described_and_deleted(shell: Shell) -> None:
    plain = created(shell, "--account", "orders")
    noted = created(
        shell, "--account", "orders", "--expires", "2099-12-31", "--description", "shop in Prague"
    )
    assert (plain["principal"], plain["last_day"]) == ("User:orders", None)
    assert noted["last_day"] == "2099-12-31" and noted["key"].endswith("+20991231")
    listed = json.loads(shell.run("api-keys", "list", "--account", "orders", "-o", "json", *ADMIN))
    both = ["SCRAM-SHA-256", "SCRAM-SHA-512"]
    assert {each["key"]: (each["description"], each["state"]) for each in listed} == {
        plain["key"]: (None, "valid"),
        noted["key"]: ("shop in Prague", "valid"),
    }
    assert all(each["mechanisms"] == both for each in listed)
    key_id = noted["key"].split("+")[1]
    told = shell.run("api-keys", "describe", key_id, *ADMIN)
    assert "shop in Prague" in told and "2099-12-31 (valid)" in told and noted["secret"] not in told

    over = ApiKey("orders", "A" * 16, datetime.now(UTC).date() - timedelta(1)).name
    shell.run("users", "add", over, "--password-file", "-", *ADMIN, stdin="secret\n")
    table = shell.run("api-keys", "list", *ADMIN)
    assert [line.split()[3] for line in table.splitlines()[1:]].count("ended") == 1
    assert "Authentication failed" in shell.run("topics", "list", *as_user(over, "secret", "PLAIN"), code=1)
    assert over in shell.run("api-keys", "delete", "--expired", "--yes", *ADMIN)
    shell.run("api-keys", "delete", key_id, plain["key"], "--yes", *ADMIN)
    assert shell.run("api-keys", "list", "--account", "orders", *ADMIN) == ""


def test_what_cannot_be_made_or_found(shell: Shell) -> None:
    assert "is not the name of an account" in shell.run(
        "api-keys", "create", "--account", "a+b", *ADMIN, code=2
    )
    for wrong, why in (("1h", "less than a day"), ("soon", "neither"), ("2020-01-01", "is over")):
        assert why in shell.run("api-keys", "create", "--account", "a", "--expires", wrong, *ADMIN, code=2)
    assert "there is no API key 'x'" in shell.run("api-keys", "delete", "x", "--yes", *ADMIN, code=1)


def test_who_may_not_manage_users_and_keys_is_told_so(shell: Shell) -> None:
    """The client library ends with a segmentation fault on these answers."""
    low = created(shell, "--account", "low")
    as_low = as_user(low["key"], low["secret"], "PLAIN")
    secret = ("--password-file", "-")
    for doing, arguments in (
        ("list users", ("users", "list")),
        ("list users", ("api-keys", "list")),
        ("set the password of 'x'", ("users", "add", "x", *secret)),
    ):
        refused = shell.run(*arguments, *as_low, stdin="secret\n", code=1)
        assert f"cannot {doing}: not authorized for the cluster." in refused
    assert "the name of a user is not empty" in shell.run("users", "add", "", *secret, *ADMIN, code=2)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("acls", "add", "TU-05+KEY", "--topic", "t", "--operation", "read"),
            "Name the account: User:TU-05.",
        ),
        (("roles", "grant", "User:TU-05+KEY+20991231", "operator"), "Name the account: User:TU-05."),
        (("roles", "group", "add", "g", "--member", "TU-05+KEY"), "Name the account: User:TU-05."),
        (("acls", "add", "Group:shop", "--topic", "t", "--producer"), "access rules are about users"),
        (("acls", "add", "user:shop", "--topic", "t", "--producer"), "case matters: write User:shop."),
    ],
)
def test_rules_that_would_match_nobody_are_refused(
    shell: Shell, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    wanted = [word.replace("KEY", "A" * 16) for word in arguments]
    assert main([*wanted, "--bootstrap-server", shell.bootstrap, *ADMIN]) in (1, 2)
    assert says in capsys.readouterr().err


def test_a_key_is_written_to_a_new_file_for_its_owner_alone(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at = ["--bootstrap-server", shell.bootstrap, *ADMIN]
    target = tmp_path / "client.properties"
    create = ["api-keys", "create", "--account", "filed", "--to", str(target), *at]
    assert main(create) == 0
    login = read_properties(str(target))
    said = capsys.readouterr().out
    assert login["sasl.username"] in said and login["sasl.password"] not in said
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert main(create) == 1
    assert "File exists" in capsys.readouterr().err and read_properties(str(target)) == login
    assert main(["api-keys", "list", "--account", "filed", "-o", "json", *at]) == 0
    assert [each["key"] for each in json.loads(capsys.readouterr().out)] == [login["sasl.username"]]


def test_a_security_admin_makes_and_describes_keys(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at = ["--bootstrap-server", shell.bootstrap]
    login = tmp_path / "sec.properties"
    assert main(["api-keys", "create", "--account", "sec", "--to", str(login), *at, *ADMIN]) == 0
    assert main(["roles", "grant", "sec", "security-admin", *at, *ADMIN]) == 0
    as_sec = ["--command-config", str(login)]
    assert main(["api-keys", "create", "--account", "shop", "--description", "till 7", *as_sec]) == 0
    capsys.readouterr()
    assert main(["api-keys", "list", "--account", "shop", "-o", "json", *as_sec]) == 0
    assert [each["description"] for each in json.loads(capsys.readouterr().out)] == ["till 7"]


def test_what_a_key_may_do_is_what_its_account_may(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["--bootstrap-server", shell.bootstrap, *ADMIN]
    assert main(["acls", "add", "User:paying", "--topic", "paid", "--operation", "read", *at]) == 0
    for key in ("paying+" + "A" * 16, "User:paying+" + "A" * 16 + "+20991231"):
        assert main(["explain", "access", key, "read", "topic:paid", *at]) == 0
        said = capsys.readouterr()
        assert "User:paying may read topic 'paid'." in said.out
        assert "is an API key: its client is User:paying." in said.err
