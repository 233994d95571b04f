"""A password check of one's own, as a package that has an entry point brings it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.resolve import BrokerLayers
from moldau.security.sasl.exchange import LoginRefused
from moldau.security.sasl.jaas import parse_jaas
from moldau.security.sasl.own_checks import own_check

SOURCE = """
def make(options):
    known = options["known"]
    def check(user, password):
        if user == "broken":
            raise OSError(f"no database for {password}")
        return (user, password) == tuple(known.split("/"))
    return check

def broken(options):
    return options["missing"]
"""
MODULE = parse_jaas('PlainLoginModule required known="alice/secret";', "jaas")


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_password_checks.py").write_text(SOURCE)
    facts = tmp_path / "own_password_checks-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: own-password-checks\nVersion: 1\n")
    (facts / "entry_points.txt").write_text(
        "[moldau.password_checks]\nour-database = own_password_checks:make\nbroken = own_password_checks:broken\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("own_password_checks", None)


def settings(handler: str) -> BrokerSettings:
    key = "listener.name.x.plain.sasl.server.callback.handler.class"
    return BrokerLayers(static={key: handler}).settings()


def test_a_check_of_ones_own() -> None:
    check = own_check(settings("our-database"), "X", MODULE)
    assert check is not None
    assert check("alice", "secret")
    assert not check("alice", "wrong")


def test_a_check_that_fails_refuses_and_tells_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    check = own_check(settings("our-database"), "X", MODULE)
    assert check is not None
    with pytest.raises(LoginRefused) as refusal:
        check("broken", "pass-word")
    assert refusal.value.told == "Authentication failed: credentials for user could not be verified"
    assert "pass-word" not in str(refusal.value) + caplog.text
    assert "OSError" in caplog.text


def test_javas_own_handler_means_the_users_of_the_module() -> None:
    java = "org.apache.kafka.common.security.plain.internals.PlainServerCallbackHandler"
    assert own_check(settings(java), "X", MODULE) is None
    assert own_check(BrokerLayers().settings(), "X", MODULE) is None


@pytest.mark.parametrize(
    ("handler", "complaint"), [("nothing", "installed are: broken, our-database"), ("broken", "KeyError")]
)
def test_a_check_that_cannot_be_had(handler: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        own_check(settings(handler), "X", MODULE)
