"""The users of SCRAM of a cluster, requested with Kafka's protocol (KIP-554).

The client library crashes when the brokers refuse such a request.
"""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaError

from moldau.cli.client.cluster_queries import controller_address
from moldau.cli.client.connection import Cluster
from moldau.cli.failures import refused
from moldau.core.error_codes import RETRIABLE
from moldau.protocol.messages.security.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from moldau.protocol.messages.security.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from moldau.security.credentials.scram_credential import MECHANISM_OF_CODE, MECHANISMS

SALT_BYTES: Final = 64
Credentials = Mapping[str, Mapping[str, int]]
"""The iterations of each mechanism of each user."""


def find_credentials(cluster: Cluster) -> Credentials:
    """Of all users, by name."""
    doing = "list users"
    # An empty list is everybody, as none is; but Apache Kafka does not answer none from who may not ask.
    request = DescribeUserScramCredentialsRequest(users=())
    answer = cluster.wire.ask(cluster.wire.any_broker(), request, DescribeUserScramCredentialsResponse, doing)
    _check(answer.error_code, answer.error_message, doing)
    found: dict[str, Mapping[str, int]] = {}
    for result in sorted(answer.results, key=lambda result: result.user):
        _check(result.error_code, result.error_message, doing)
        found[result.user] = {
            MECHANISM_OF_CODE[info.mechanism].name: info.iterations
            for info in result.credential_infos
            if info.mechanism in MECHANISM_OF_CODE
        }
    return found


def set_password(
    cluster: Cluster, user: str, mechanism: str, password: bytes, iterations: int, doing: str
) -> None:
    """For one mechanism: brokers change a user once in a request. What is sent is the salted password."""
    kind, salt = MECHANISMS[mechanism], secrets.token_bytes(SALT_BYTES)
    upsertion = ScramCredentialUpsertion(
        name=user,
        mechanism=kind.code,
        iterations=iterations,
        salt=salt,
        salted_password=hashlib.pbkdf2_hmac(kind.hash_name, password, salt, iterations),
    )
    _alter(cluster, AlterUserScramCredentialsRequest(deletions=(), upsertions=[upsertion]), doing)


def remove_password(cluster: Cluster, user: str, mechanism: str, doing: str) -> None:
    """For one mechanism, as `set_password`."""
    deletion = ScramCredentialDeletion(name=user, mechanism=MECHANISMS[mechanism].code)
    _alter(cluster, AlterUserScramCredentialsRequest(deletions=[deletion], upsertions=()), doing)


def _alter(cluster: Cluster, request: AlterUserScramCredentialsRequest, doing: str) -> None:
    def attempt() -> tuple[int, AlterUserScramCredentialsResult]:
        address = controller_address(cluster)
        [result] = cluster.wire.ask(address, request, AlterUserScramCredentialsResponse, doing).results
        return (result.error_code if result.error_code in RETRIABLE else 0), result

    result = cluster.wire.settled(attempt, doing)
    _check(result.error_code, result.error_message, doing)


def _check(code: int, message: str | None, doing: str) -> None:
    if code:
        raise refused(KafkaError(code, message) if message else KafkaError(code), doing)
