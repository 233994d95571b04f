"""Logins with API keys, and of users of the cluster with PLAIN: as whom, until when, and what ends them."""

from collections.abc import Iterator, Mapping
from functools import partial

import pytest
from admin_rig import Rig
from test_connection_login import PROPERTIES, Talk, decoded, made

from moldau.coordination.security.entity_nodes import user_entity
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import PeerError
from moldau.protocol.messages.cluster.describe_cluster import DescribeClusterRequest
from moldau.protocol.messages.security.create_delegation_token import CreateDelegationTokenRequest
from moldau.protocol.messages.security.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest
from moldau.security.credentials.scram_credential import MECHANISMS, credential_of_password, credential_text

KEY = "orders+ABCDEFGHIJKLMN27"
ENDING = f"{KEY}+20231115"
"""Its last day is the second one of the simulated clock, which starts at 2023-11-14T22:13:20Z."""
SECRET = "the-secret-of-the-key"
DAY_MS = 86_400_000
LEFT_MS = DAY_MS + 6_400_000
"""From the start of the clock until the end of that day."""
ALICE = 'PlainLoginModule required user_alice="secret";'


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = made(PROPERTIES + "delegation.token.secret.key=of-all-brokers\n")
    for user in (KEY, ENDING, "carol", "alice"):
        put(rig, user, SECRET)
    yield rig
    rig.store.close()


def put(rig: Rig, user: str, password: str | None) -> None:
    """Without a password the user is removed."""
    texts = {}
    if password is not None:
        mechanism = MECHANISMS["SCRAM-SHA-512"]
        texts[mechanism.name] = credential_text(credential_of_password(mechanism, password, b"salt", 4096))

    async def write() -> None:
        await rig.broker.security.write_entity(user_entity(user), partial(_put, texts))

    rig.clock.spawn(write())


def _put(texts: Mapping[str, str], present: Mapping[str, str]) -> dict[str, str]:
    return dict(texts)


def log_in(talk: Talk, user: str, password: str = SECRET) -> int:
    """By PLAIN. The lifetime of the login; LookupError if it is refused."""
    assert talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 1).error_code == ErrorCode.NONE
    request = SaslAuthenticateRequest(auth_bytes=f"\0{user}\0{password}".encode())
    assert talk.send(request, 2) is None
    if not talk.connection.replies:
        answer = talk.late_answer(request, 2)
        raise LookupError(answer.error_message)
    (chunks,) = talk.connection.replies
    answer = decoded(request, 2, chunks)
    assert answer.error_code == ErrorCode.NONE
    talk.connection.replies.clear()
    lifetime_ms: int = answer.session_lifetime_ms
    return lifetime_ms


def test_a_key_logs_in_as_its_account(rig: Rig) -> None:
    plain, scram = Talk(rig), Talk(rig)
    assert log_in(plain, KEY) == 0
    assert scram.log_in(KEY, SECRET, "SCRAM-SHA-512").session_lifetime_ms == 0
    for talk in (plain, scram):
        assert talk.principal == "User:orders"
        assert talk.send(DescribeClusterRequest(), 1).error_code == ErrorCode.NONE


def test_a_login_ends_with_the_last_day_of_its_key(rig: Rig) -> None:
    plain, scram = Talk(rig), Talk(rig)
    assert log_in(plain, ENDING) == LEFT_MS
    assert scram.log_in(ENDING, SECRET, "SCRAM-SHA-512").session_lifetime_ms == LEFT_MS
    rig.clock.advance(LEFT_MS + 1)
    for talk in (plain, scram):
        with pytest.raises(PeerError, match="has expired"):
            talk.send(DescribeClusterRequest(), 1)
    with pytest.raises(LookupError, match="due to invalid credentials"):
        log_in(Talk(rig), ENDING)
    assert log_in(Talk(rig), KEY) == 0


def test_a_removed_key_ends_its_connections(rig: Rig) -> None:
    talks = [Talk(rig), Talk(rig), Talk(rig)]
    log_in(talks[0], KEY)
    talks[1].log_in(KEY, SECRET, "SCRAM-SHA-512")
    log_in(talks[2], ENDING)
    put(rig, KEY, None)
    for talk in talks[:2]:
        with pytest.raises(PeerError, match=r"API key 'orders\+ABCDEFGHIJKLMN27' .* was removed"):
            talk.send(DescribeClusterRequest(), 1)
    assert talks[2].send(DescribeClusterRequest(), 1).error_code == ErrorCode.NONE
    with pytest.raises(LookupError, match="Invalid username or password"):
        log_in(Talk(rig), KEY)


def test_a_key_makes_no_tokens_that_would_outlive_it(rig: Rig) -> None:
    talk = Talk(rig)
    talk.log_in(KEY, SECRET, "SCRAM-SHA-512")
    request = CreateDelegationTokenRequest()
    assert talk.send(request, 3) is None
    (chunks,) = talk.connection.replies
    answer = decoded(request, 3, chunks)
    assert answer.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


def test_users_of_the_cluster_log_in_with_plain_after_those_of_the_login_module(rig: Rig) -> None:
    carol = Talk(rig)
    log_in(carol, "carol")
    assert carol.principal == "User:carol"
    assert Talk(rig).log_in("alice", "secret").error_code == ErrorCode.NONE
    alice = Talk(rig)
    request = SaslAuthenticateRequest(auth_bytes=f"\0alice\0{SECRET}".encode())
    alice.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    assert alice.send(request, 2) is None
    assert (
        alice.late_answer(request, 2).error_message == "Authentication failed: Invalid username or password"
    )
    put(rig, "carol", None)
    # As in Kafka: the connection of a removed user lasts until its login ends.
    assert carol.send(DescribeClusterRequest(), 1).error_code == ErrorCode.NONE


@pytest.mark.parametrize(
    "prefix", ["", "listener.name.sasl_plaintext.", "listener.name.sasl_plaintext.plain."]
)
def test_plain_may_be_kept_to_the_users_of_the_login_module(prefix: str) -> None:
    rig = made(f"{PROPERTIES}{prefix}moldau.plain.scram.enable=false\n")
    put(rig, KEY, SECRET)
    talk = Talk(rig)
    request = SaslAuthenticateRequest(auth_bytes=f"\0{KEY}\0{SECRET}".encode())
    talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    assert talk.send(request, 2) is None
    assert talk.late_answer(request, 2).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert Talk(rig).log_in(KEY, SECRET, "SCRAM-SHA-512").error_code == ErrorCode.NONE
    rig.store.close()
