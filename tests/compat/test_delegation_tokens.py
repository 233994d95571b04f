"""Delegation tokens: the answers of Apache Kafka, its own tool, and a Java client that logs in with one."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.client import Record
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaClient, JavaDriver
from compat.kafka_tools import KafkaTools
from compat.server_process import wait_until
from compat.test_logins import PASSWORD, SCRAM_MODULE, USER, Guarded, java_login, log_in, quoted, started
from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.security.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from moldau.protocol.messages.security.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from moldau.protocol.messages.security.expire_delegation_token import ExpireDelegationTokenRequest
from moldau.protocol.messages.security.renew_delegation_token import RenewDelegationTokenRequest
from moldau.protocol.messages.security.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest
from moldau.security.credentials.delegation_token import token_password
from moldau.security.credentials.scram_credential import MECHANISMS
from moldau.security.sasl.client_login import scram_login

DAY_MS = 86_400_000
HOUR_MS = 3_600_000
TOKEN_ROW = re.compile(r"(\S{22})\s+(\S{88})\s")
"""ID and HMAC, as the tool prints them."""
SECRET = "known-to-all-brokers"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "guarded" in metafunc.fixturenames:
        kafka = pytest.param("kafka", marks=pytest.mark.java)
        against = ["moldau", kafka] if metafunc.config.getoption("--against-kafka") else ["moldau"]
        metafunc.parametrize("guarded", against, indirect=True, scope="module")


@pytest.fixture(scope="module")
def guarded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    secret = {"delegation.token.secret.key": SECRET, "super.users": f"User:{USER}"}
    made = started(request.param, tmp_path_factory.mktemp("tokens"), secret)
    with made.server:
        made.add_users()
        yield made
        assert SECRET not in made.server.log_text()


@pytest.fixture
def alice(guarded: Guarded) -> Iterator[WireClient]:
    yield from connected(guarded, USER)


@pytest.fixture
def bob(guarded: Guarded) -> Iterator[WireClient]:
    yield from connected(guarded, "bob")


def connected(guarded: Guarded, user: str) -> Iterator[WireClient]:
    with guarded.connect() as client:
        log_in(client, user, PASSWORD, "SCRAM-SHA-256")
        yield client


def create(client: WireClient, *, renewer: str | None = None, lifetime_ms: int = -1, owner: str = "") -> Any:
    renewers = [CreatableRenewers(principal_type="User", principal_name=renewer)] if renewer else []
    return client.call(
        CreateDelegationTokenRequest(
            owner_principal_type="User" if owner else "",
            owner_principal_name=owner,
            renewers=renewers,
            max_lifetime_ms=lifetime_ms,
        )
    )


def describe(client: WireClient, *owners: str) -> dict[str, Any]:
    named = [DescribeDelegationTokenOwner(principal_type="User", principal_name=each) for each in owners]
    answer = client.call(DescribeDelegationTokenRequest(owners=named or None))
    assert answer.error_code == ErrorCode.NONE
    return {each.token_id: each for each in answer.tokens}


def renew(client: WireClient, hmac: bytes, period_ms: int = -1) -> Any:
    return client.call(RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period_ms))


def expire(client: WireClient, hmac: bytes, period_ms: int = -1) -> Any:
    return client.call(ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=period_ms))


def log_in_by_token(client: WireClient, token: Any, mechanism: str = "SCRAM-SHA-256") -> Any:
    """The last answer."""
    client.call(SaslHandshakeRequest(mechanism=mechanism), 1)
    password = token_password(bytes(token.hmac))
    login = scram_login(MECHANISMS[mechanism], token.token_id, password, "nonce", by_token=True)
    message = next(login)
    while True:
        answer = client.call(SaslAuthenticateRequest(auth_bytes=message), 2)
        if answer.error_code != ErrorCode.NONE:
            return answer
        try:
            message = login.send(bytes(answer.auth_bytes))
        except StopIteration:
            return answer


def is_known(client: WireClient, token: Any) -> bool:
    return token.token_id in describe(client)


def test_a_token_is_created_and_described(alice: WireClient, bob: WireClient) -> None:
    token = create(alice, renewer="bob", lifetime_ms=2 * DAY_MS)
    assert token.error_code == ErrorCode.NONE
    assert (token.principal_type, token.principal_name) == ("User", USER)
    assert token.token_requester_principal_name == USER
    assert token.max_timestamp_ms - token.issue_timestamp_ms == 2 * DAY_MS
    assert token.expiry_timestamp_ms - token.issue_timestamp_ms == 84375 << 10
    assert len(token.hmac) == 64
    assert len(token.token_id) == 22
    for client in (alice, bob):
        wait_until(lambda client=client: is_known(client, token), "the broker knows the token")
        described = describe(client)[token.token_id]
        assert bytes(described.hmac) == bytes(token.hmac)
        assert [each.principal_name for each in described.renewers] == ["bob"]
        assert described.expiry_timestamp == token.expiry_timestamp_ms
    assert token.token_id in describe(alice, USER)
    assert token.token_id in describe(alice, "bob")
    assert describe(alice, "nobody") == {}
    nobody = DescribeDelegationTokenRequest(owners=[])
    assert alice.call(nobody).tokens == []


def test_a_token_is_renewed_and_expired(alice: WireClient, bob: WireClient) -> None:
    token = create(alice, renewer="bob", lifetime_ms=DAY_MS)
    wait_until(lambda: is_known(alice, token), "the broker knows the token")
    hmac = bytes(token.hmac)
    assert renew(bob, hmac).expiry_timestamp_ms <= token.max_timestamp_ms
    shorter = renew(bob, hmac, HOUR_MS)
    assert shorter.error_code == ErrorCode.NONE
    assert shorter.expiry_timestamp_ms < token.expiry_timestamp_ms
    assert expire(bob, hmac, 2 * HOUR_MS).expiry_timestamp_ms > shorter.expiry_timestamp_ms
    assert expire(alice, hmac).error_code == ErrorCode.NONE
    wait_until(lambda: not is_known(alice, token), "the broker has forgotten the token")
    assert renew(alice, hmac).error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    assert expire(alice, hmac).error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND


def test_tokens_of_others(alice: WireClient, bob: WireClient) -> None:
    token = create(alice)
    wait_until(lambda: is_known(alice, token), "the broker knows the token")
    hmac = bytes(token.hmac)
    assert renew(bob, hmac).error_code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    assert expire(bob, hmac).error_code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    assert expire(bob, b"x").error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND


def test_a_token_for_somebody_else(alice: WireClient) -> None:
    token = create(alice, owner="carol")
    assert token.error_code == ErrorCode.NONE
    assert token.principal_name == "carol"
    assert token.token_requester_principal_name == USER


def test_renewers_are_users(alice: WireClient) -> None:
    request = CreateDelegationTokenRequest(
        renewers=[CreatableRenewers(principal_type="Group", principal_name="g")], max_lifetime_ms=-1
    )
    assert alice.call(request).error_code == ErrorCode.INVALID_PRINCIPAL_TYPE


def test_an_expired_token(guarded: Guarded, alice: WireClient) -> None:
    token = create(alice, lifetime_ms=1)
    hmac = bytes(token.hmac)
    wait_until(
        lambda: renew(alice, hmac).error_code == ErrorCode.DELEGATION_TOKEN_EXPIRED, "the token has expired"
    )
    assert expire(alice, hmac, HOUR_MS).error_code == ErrorCode.DELEGATION_TOKEN_EXPIRED


def test_without_a_login_there_are_no_tokens(guarded: Guarded) -> None:
    with WireClient(guarded.server.port) as client:
        refused = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        assert create(client).error_code == refused
        for answer in (renew(client, b"x"), expire(client, b"x")):
            assert (answer.error_code, answer.expiry_timestamp_ms) == (refused, -1)
        assert client.call(DescribeDelegationTokenRequest(owners=None)).error_code == refused


@pytest.mark.parametrize("mechanism", list(MECHANISMS))
def test_a_login_by_token(guarded: Guarded, alice: WireClient, mechanism: str) -> None:
    token = create(alice)
    wait_until(lambda: is_known(alice, token), "the broker knows the token")
    with guarded.connect() as client:
        answer = log_in_by_token(client, token, mechanism)
        assert answer.error_code == ErrorCode.NONE
        assert 0 < answer.session_lifetime_ms <= 84375 << 10
        assert create(client).error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    expire(alice, bytes(token.hmac))
    wait_until(lambda: not is_known(alice, token), "the broker has forgotten the token")
    with guarded.connect() as client:
        assert log_in_by_token(client, token, mechanism).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED


@pytest.mark.java
def test_kafkas_tool_and_a_java_client(guarded: Guarded, java_driver: JavaDriver, tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    config.write_text("".join(f"{name}={value}\n" for name, value in java_login("SCRAM-SHA-512").items()))
    tools = KafkaTools(java_driver, guarded.bootstrap)

    def run(*arguments: str) -> str:
        return tools.run("kafka-delegation-tokens", "--command-config", str(config), *arguments)

    printed = run("--create", "--max-life-time-period", "-1", "--renewer-principal", "User:bob")
    token_id, hmac = next(found.groups() for line in printed.splitlines() if (found := TOKEN_ROW.match(line)))
    wait_until(
        lambda: token_id in run("--describe", "--owner-principal", f"User:{USER}"), "the tool sees the token"
    )
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.jaas.config": (
            f'{SCRAM_MODULE} required username={quoted(token_id)} password={quoted(hmac)} tokenauth="true";'
        ),
    }
    ConfluentClient(guarded.open).create_topic("by-token")
    JavaClient(java_driver, guarded.bootstrap).produce("by-token", [Record(value=b"x")], settings)
    assert re.search(r"\d{4}-\d\d-\d\d", run("--renew", "--renew-time-period", "-1", "--hmac", hmac))
    run("--expire", "--expiry-time-period", "-1", "--hmac", hmac)
    wait_until(lambda: token_id not in run("--describe"), "the token is gone")
