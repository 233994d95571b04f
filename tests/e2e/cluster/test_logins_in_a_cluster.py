"""Users and delegation tokens that one broker of a cluster writes are known to all of them, past a restart."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from compat.server_process import wait_until
from compat.test_delegation_tokens import create, expire, log_in_by_token
from e2e.wire import HungUp, WireClient
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.security.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest
from moldau.protocol.messages.topics.metadata import MetadataRequest
from moldau.security.credentials.api_key import new_key
from moldau.security.sasl.client_login import client_login
from moldau.testing.cluster_security import Security
from moldau.testing.local_cluster import LocalCluster

SECRET = "the-secret-of-all-brokers"
TIMEOUT_S = 60


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    security = Security(protocol="SASL_PLAINTEXT")
    settings = {
        "delegation.token.secret.key": SECRET,
        "connection.failed.authentication.delay.ms": "1",
        # Brokers log in to each other again and again, too.
        "connections.max.reauth.ms": "2000",
    }
    with LocalCluster(brokers=3, security=security, settings=settings) as cluster:
        yield cluster


def ports(cluster: LocalCluster) -> list[int]:
    return [int(address.rpartition(":")[2]) for address in cluster.bootstrap_servers.split(",")]


def answer_to(port: int, user: str, password: str, mechanism: str) -> int:
    """The error code of a login at one broker."""
    with WireClient(port) as client:
        return log_in(client, user, password, mechanism).error_code


def log_in(client: WireClient, user: str, password: str, mechanism: str) -> Any:
    client.call(SaslHandshakeRequest(mechanism=mechanism), 1)
    login = client_login(mechanism, user, password)
    message = next(login)
    while True:
        answer = client.call(SaslAuthenticateRequest(auth_bytes=message), 2)
        if answer.error_code != ErrorCode.NONE:
            return answer
        try:
            message = login.send(bytes(answer.auth_bytes))
        except StopIteration:
            return answer


def everywhere(cluster: LocalCluster, user: str, password: str, code: ErrorCode) -> None:
    for port in ports(cluster):
        wait_until(
            lambda port=port: answer_to(port, user, password, "SCRAM-SHA-256") == code,
            f"a login of {user} at {port} is answered with {code.name}",
            TIMEOUT_S,
        )


def test_users(cluster: LocalCluster) -> None:
    admin = AdminClient({**cluster.client_settings(), "log_level": 0})

    def alter(alteration: UserScramCredentialUpsertion | UserScramCredentialDeletion) -> None:
        for future in admin.alter_user_scram_credentials([alteration]).values():
            future.result(TIMEOUT_S)

    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    alter(UserScramCredentialUpsertion("eve", info, b"first"))
    everywhere(cluster, "eve", "first", ErrorCode.NONE)
    alter(UserScramCredentialUpsertion("eve", info, b"second"))
    everywhere(cluster, "eve", "second", ErrorCode.NONE)
    everywhere(cluster, "eve", "first", ErrorCode.SASL_AUTHENTICATION_FAILED)
    cluster.restart(1)
    everywhere(cluster, "eve", "second", ErrorCode.NONE)
    alter(UserScramCredentialDeletion("eve", ScramMechanism.SCRAM_SHA_256))
    everywhere(cluster, "eve", "second", ErrorCode.SASL_AUTHENTICATION_FAILED)


def test_an_api_key_ends_on_every_broker(cluster: LocalCluster) -> None:
    admin = AdminClient({**cluster.client_settings(), "log_level": 0})
    key, secret = new_key("orders")

    def alter(alteration: UserScramCredentialUpsertion | UserScramCredentialDeletion) -> None:
        admin.alter_user_scram_credentials([alteration])[key.name].result(TIMEOUT_S)

    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    alter(UserScramCredentialUpsertion(key.name, info, secret.encode()))
    everywhere(cluster, key.name, secret, ErrorCode.NONE)
    with ExitStack() as opened:
        clients = [opened.enter_context(WireClient(port)) for port in ports(cluster)]
        for client in clients:
            assert log_in(client, key.name, secret, "PLAIN").error_code == ErrorCode.NONE
        alter(UserScramCredentialDeletion(key.name, ScramMechanism.SCRAM_SHA_256))
        for client in clients:
            wait_until(lambda client=client: is_ended(client), "the connection of the key ends", TIMEOUT_S)


def is_ended(client: WireClient) -> bool:
    """Asks something, as the end comes with the next request."""
    try:
        client.call(MetadataRequest(topics=[]))
    except (HungUp, OSError):
        return True
    return False


def test_tokens(cluster: LocalCluster) -> None:
    def login_code(port: int, token: Any) -> int:
        with WireClient(port) as client:
            code: int = log_in_by_token(client, token, "SCRAM-SHA-512").error_code
            return code

    first, *others = ports(cluster)
    with WireClient(first) as admin:
        log_in(admin, "admin", "admin-secret", "PLAIN")
        token = create(admin)
        assert token.error_code == ErrorCode.NONE
        assert login_code(first, token) == ErrorCode.NONE
        for port in others:
            wait_until(lambda port=port: login_code(port, token) == ErrorCode.NONE, f"{port} knows the token")
    cluster.restart(2)
    for port in others:
        wait_until(
            lambda port=port: login_code(port, token) == ErrorCode.NONE, f"{port} still knows the token"
        )
    with WireClient(others[-1]) as admin:
        log_in(admin, "admin", "admin-secret", "PLAIN")
        assert expire(admin, bytes(token.hmac)).error_code == ErrorCode.NONE
    for port in ports(cluster):
        wait_until(
            lambda port=port: login_code(port, token) == ErrorCode.SASL_AUTHENTICATION_FAILED,
            f"{port} has forgotten the token",
        )
