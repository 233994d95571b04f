"""Passwords in addresses: found for the log, hidden in answers, and kept when a shown address comes back."""

import pytest

from moldau.pipeline.connect.runtime.secrets import resolve, unresolved_text
from moldau.pipeline.connect.runtime.url_passwords import hidden_in, passwords_in
from moldau.pipeline.connect.server.shown_config import restored, shown


@pytest.mark.parametrize(
    ("text", "hidden", "passwords"),
    [
        ("redis://:se%40cret@host:6379/0", "redis://:****@host:6379/0", {"se%40cret", "se@cret"}),
        ("postgresql+psycopg://me:a@b@host/db", "postgresql+psycopg://me:****@host/db", {"a@b"}),
        (
            "jdbc:postgresql://host/db?user=me&password=secret&ssl=true",
            "jdbc:postgresql://host/db?user=me&password=****&ssl=true",
            {"secret"},
        ),
        (
            "jdbc:sqlserver://host;user=me;password=secret",
            "jdbc:sqlserver://host;user=me;password=****",
            {"secret"},
        ),
        ("redis://me:${env:WORD}@host", "redis://me:${env:WORD}@host", set()),
        ("http://host:8080/a@b", "http://host:8080/a@b", set()),
        ("password=secret", "password=secret", set()),
    ],
)
def test_addresses(text: str, hidden: str, passwords: set[str]) -> None:
    assert (hidden_in(text), passwords_in(text)) == (hidden, passwords)


def test_they_are_secrets() -> None:
    resolved = resolve({"redis.uri": "redis://me:swordfish@host"}, {})
    assert resolved.mask("cannot reach redis://me:swordfish@host") == "cannot reach redis://me:[hidden]@host"


def test_what_is_shown_can_be_sent_back() -> None:
    stored = {"redis.uri": "redis://me:swordfish@host", "topics": "a"}
    seen = shown(stored)
    assert seen == {"redis.uri": "redis://me:****@host", "topics": "a"}
    assert restored({**seen, "topics": "b"}, stored) == {**stored, "topics": "b"}
    # The password stays with its server.
    moved = {**seen, "redis.uri": "redis://me:****@other"}
    assert restored(moved, stored) == moved


def test_a_reference_that_stays_a_text_says_what_is_missing() -> None:
    config = {"file": "${topic}", "a": "${what:ever}", "connection.password": "${env:WORD}"}
    providers = {"config.providers": "file", "config.providers.file.class": "FileConfigProvider"}
    said = unresolved_text(config, providers)
    assert said.startswith("connection.password has ${env:WORD} as a text")
    assert "config.providers=file,env and config.providers.env.class=EnvVarConfigProvider" in said
    assert not unresolved_text({"a": "${file:/x:y}", "b": "${what:ever}"}, providers)
