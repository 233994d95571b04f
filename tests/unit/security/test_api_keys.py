"""API keys: names that tell account and end, and how users of the cluster log in with PLAIN and SCRAM."""

from collections.abc import Mapping
from datetime import UTC, date, datetime

import pytest

from moldau.security.credentials.api_key import (
    ApiKey,
    account_of,
    is_account_name,
    new_key,
    parse_api_key,
)
from moldau.security.credentials.scram_credential import (
    MECHANISMS,
    ScramMechanism,
    credential_of_password,
    credential_text,
)
from moldau.security.sasl.exchange import Login, LoginRefused
from moldau.security.sasl.stored_users import StoredUsers

ID = "ABCDEFGHIJKLMN27"
SHA_256, SHA_512 = MECHANISMS.values()


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def users(passwords: Mapping[str, str], now_ms: int = 0, iterations: int = 4096) -> StoredUsers:
    """Each user has one mechanism."""
    kept = {
        name: {SHA_512.name: credential_text(credential_of_password(SHA_512, password, b"salt", iterations))}
        for name, password in passwords.items()
    }
    return StoredUsers(lambda user: kept.get(user, {}), lambda: now_ms)


def test_a_new_key_says_all_in_its_name() -> None:
    key, secret = new_key("TU-05", date(2027, 2, 28))
    assert key.name == f"TU-05+{key.key_id}+20270228"
    assert parse_api_key(key.name) == key
    assert key.expires_ms == at("2027-03-01")
    assert not key.is_expired(at("2027-03-01") - 1)
    assert key.is_expired(at("2027-03-01"))
    other, other_secret = new_key("TU-05")
    assert parse_api_key(other.name) == other
    assert other.expires_ms is None
    assert other.key_id != key.key_id
    assert other_secret != secret
    assert len(secret) >= 40


@pytest.mark.parametrize(
    "user",
    [
        "bob",
        "bob+test",
        "bob+test@example.org",
        f"+{ID}",
        f"a+b+{ID}",
        f"bob+{ID.lower()}",
        f"bob+{ID}A",
        f"bob+{ID}+",
        f"bob+{ID}+2027",
        f"bob+{ID}+20271301",
        f"bob+{ID}+20270101+1",
        f"bob+{ID}\n",
    ],
)
def test_names_that_are_no_keys(user: str) -> None:
    assert parse_api_key(user) is None
    assert account_of(user) == user


def test_the_account_of_a_user() -> None:
    assert account_of(f"bob@example.org+{ID}") == "bob@example.org"
    assert account_of(f"bob+{ID}+99991231") == "bob"
    assert parse_api_key(f"bob+{ID}+99991231") == ApiKey("bob", ID, date(9999, 12, 31))
    assert parse_api_key(f"bob+{ID}+00010101") == ApiKey("bob", ID, date(1, 1, 1))
    assert ApiKey("bob", ID, date(9999, 12, 31)).login(0).expires_ms == 253_402_300_800_000


def test_names_of_accounts() -> None:
    assert all(map(is_account_name, ("orders", "TU-05", "a.b_c@example.org")))
    assert not any(map(is_account_name, ("", "a+b", "a b", "a:b", "a,b", "a\n", "é", "x" * 101)))


def test_passwords_of_stored_users() -> None:
    stored = users({"alice": "secret", "bob": "word"})
    assert stored.check("alice", "secret") == Login("alice")
    for user, password in (("alice", "word"), ("nobody", "secret"), ("nobody", ""), ("alice", "")):
        assert stored.check(user, password) is None
    assert stored.has("alice")
    assert not stored.has("nobody")


def test_either_mechanism_is_enough() -> None:
    def text(mechanism: ScramMechanism, password: str) -> str:
        return credential_text(credential_of_password(mechanism, password, b"salt", 8192))

    kept = {SHA_256.name: text(SHA_256, "old"), SHA_512.name: text(SHA_512, "new")}
    stored = StoredUsers(lambda user: kept, lambda: 0)
    assert stored.check("alice", "old") == stored.check("alice", "new") == Login("alice")
    assert stored.check("alice", "other") is None
    kept = {SHA_256.name: "nonsense", "consumer_byte_rate": "100"}
    assert stored.check("alice", "old") is None
    assert stored.known("alice", SHA_256) is None


def test_a_weak_credential_is_no_proof() -> None:
    assert users({"alice": "secret"}, iterations=100).check("alice", "secret") is None


def test_a_key_logs_in_as_its_account_until_its_day_is_over() -> None:
    name = f"orders+{ID}+20261231"
    last_ms = at("2027-01-01") - 1
    stored = users({name: "secret"}, last_ms)
    login = Login("orders", last_ms + 1, is_by_token=True, key=name)
    assert stored.check(name, "secret") == login
    known = stored.known(name, SHA_512)
    assert known is not None
    assert known.login == login
    stored = users({name: "secret"}, last_ms + 1)
    assert stored.check(name, "wrong") is None
    for ask in (lambda: stored.check(name, "secret"), lambda: stored.known(name, SHA_512)):
        with pytest.raises(LoginRefused, match=r"ended on 2026-12-31; create another one") as refusal:
            ask()
        assert refusal.value.told is None
