"""`moldau users` and `moldau tokens`, and that those users can log in."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from compat.server_process import free_port
from e2e.cli.shell import Shell

SETTINGS = {
    "delegation.token.secret.key": "the-brokers-secret",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        'org.apache.kafka.common.security.plain.PlainLoginModule required user_admin="admin-secret";'
    ),
}


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    port = free_port()
    listeners = f"SASL_PLAINTEXT://127.0.0.1:{port}"
    broker = MoldauBroker(tmp_path_factory.mktemp("users"), {**SETTINGS, "listeners": listeners})
    with broker:
        yield Shell(f"127.0.0.1:{port}")
        assert "-secret" not in broker.log_text()


def as_user(user: str, password: str, mechanism: str) -> list[str]:
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
    }
    return [word for key, value in properties.items() for word in ("-X", f"{key}={value}")]


ADMIN = as_user("admin", "admin-secret", "PLAIN")


def listed(shell: Shell) -> list[dict[str, object]]:
    users: list[dict[str, object]] = json.loads(shell.run("users", "list", "--output", "json", *ADMIN))
    return users


def test_a_user_comes_and_goes(shell: Shell, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("first-secret\n")
    added = shell.run("users", "add", "app", "--password-file", str(secret), *ADMIN)
    assert added == "User app can log in with SCRAM-SHA-256 and SCRAM-SHA-512.\n"
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        shell.run("topics", "list", *as_user("app", "first-secret", mechanism))
        shell.run("configs", "describe", "broker", "1", *as_user("app", "first-secret", mechanism))

    options = ["--mechanism", "scram-sha-512", "--iterations", "8192", "--password-file", "-"]
    shell.run("users", "add", "app", *options, *ADMIN, stdin="second-secret\n")
    assert listed(shell) == [
        {"user": "app", "mechanism": "SCRAM-SHA-256", "iterations": 4096},
        {"user": "app", "mechanism": "SCRAM-SHA-512", "iterations": 8192},
    ]
    shell.run("topics", "list", *as_user("app", "second-secret", "SCRAM-SHA-512"))
    refused = shell.run("topics", "list", *as_user("app", "first-secret", "SCRAM-SHA-512"), code=1)
    assert "Authentication failed" in refused
    assert "secret" not in refused

    shell.run("users", "remove", "app", "--mechanism", "SCRAM-SHA-256", "--yes", *ADMIN)
    assert [each["mechanism"] for each in listed(shell)] == ["SCRAM-SHA-512"]
    again = shell.run("users", "remove", "app", "--mechanism", "SCRAM-SHA-256", *ADMIN, code=1)
    assert "has no password for SCRAM-SHA-256" in again
    shell.run("users", "remove", "app", "--yes", *ADMIN)
    assert listed(shell) == []
    assert "has no password" in shell.run("users", "remove", "app", "--yes", *ADMIN, code=1)


def test_a_password_is_never_guessed(shell: Shell) -> None:
    assert "--password-file" in shell.run("users", "add", "nobody", *ADMIN, code=1)
    assert "is empty" in shell.run(
        "users", "add", "nobody", "--password-file", "-", *ADMIN, stdin="\n", code=1
    )
    assert shell.run("users", "list", *ADMIN) == ""


def test_a_token_comes_and_goes(shell: Shell) -> None:
    made = json.loads(
        shell.run("tokens", "create", "--renewer", "bob", "--max-life", "2d", "--output", "json", *ADMIN)
    )
    assert made["owner"] == "User:admin"
    token_id = made["token_id"]
    (listed,) = json.loads(shell.run("tokens", "list", "--owner", "User:bob", "--output", "json", *ADMIN))
    assert (listed["token_id"], listed["renewers"]) == (token_id, ["User:bob"])
    assert made["hmac"] not in shell.run("tokens", "list", *ADMIN)
    assert "tokenauth=" in shell.run("tokens", "create", *ADMIN)
    assert "now expires" in shell.run("tokens", "renew", token_id, "--for", "1h", *ADMIN)
    assert "now expires" in shell.run("tokens", "expire", token_id, "--in", "10m", "--yes", *ADMIN)
    assert "has ended" in shell.run("tokens", "expire", token_id, "--yes", *ADMIN)
    assert token_id not in shell.run("tokens", "list", *ADMIN)
    assert "there is no token" in shell.run("tokens", "renew", token_id, *ADMIN, code=1)


def test_users_of_plain_change_at_run_time(shell: Shell) -> None:
    key = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
    module = 'PlainLoginModule required user_admin="admin-secret" user_new="new-secret";'
    shell.run("configs", "set", "broker", "1", f"{key}={module}", *ADMIN)
    shell.run("topics", "list", *as_user("new", "new-secret", "PLAIN"))
    assert "-secret" not in shell.run("configs", "describe", "broker", "1", *ADMIN)
    refused = shell.run(
        "configs", "set", "broker", "1", f'{key}=PlainLoginModule user_x="hidden-secret"', *ADMIN, code=1
    )
    assert "is not a login module" in refused
    assert "-secret" not in refused
    shell.run("topics", "list", *as_user("new", "new-secret", "PLAIN"))
