"""Logins of people who mean harm: each is refused with one line that says why, and others notice nothing.

A well-behaved client works on the listener without SASL all the time.
"""

import json
import resource
import struct
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from compat.server_process import free_port, wait_until
from e2e.hostility import Attacked
from e2e.process_facts import MB
from e2e.wire import HungUp, WireClient, framed, request_bytes
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages import request_class
from moldau.protocol.messages.cluster.api_versions import ApiVersionsRequest
from moldau.protocol.messages.cluster.describe_cluster import DescribeClusterRequest
from moldau.protocol.messages.security.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from moldau.protocol.messages.security.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest
from moldau.protocol.spec import Request
from moldau.security.credentials.scram_credential import MECHANISMS
from moldau.security.sasl.client_login import client_login

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("undisturbed")]

MEMORY_BYTES_MAX = 48 * MB
CROWD = 2000
DESCRIPTORS = 3 * CROWD
"""A broker gives connections half of what it has."""
PASSWORD = "my-very-secret-word"
SASL_MESSAGE_BYTES_MAX = 512 << 10
KEY = RSAKey.generate_key(2048, {"kid": "provider"}, private=True)
HELLO = ApiVersionsRequest(client_software_name="e2e", client_software_version="1")


class Guarded(Attacked):
    """Its clients connect to the listener that wants a login."""

    def __init__(self, folder: Path) -> None:
        keys = folder / "keys.json"
        keys.write_text(json.dumps({"keys": [KEY.as_dict(private=False)]}))
        ports = free_port(), free_port()
        super().__init__(folder, settings(keys, ports))
        self.broker.port, self.sasl_port = ports

    def connect(self) -> WireClient:
        return WireClient(self.sasl_port)


def settings(keys: Path, ports: tuple[int, int]) -> dict[str, str]:
    prefix = "listener.name.sasl_plaintext"
    return {
        "listeners": f"PLAINTEXT://127.0.0.1:{ports[0]},SASL_PLAINTEXT://127.0.0.1:{ports[1]}",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,OAUTHBEARER",
        f"{prefix}.plain.sasl.jaas.config": f'PlainLoginModule required user_alice="{PASSWORD}" user_bob="word";',
        "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        "sasl.oauthbearer.expected.audience": "kafka",
        "connection.failed.authentication.delay.ms": "20",
        "connections.max.reauth.ms": "3600000",
    }


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < DESCRIPTORS:
        pytest.skip(f"a process may have {hard} open files; {DESCRIPTORS} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, DESCRIPTORS), hard))
    attacked = Guarded(tmp_path_factory.mktemp("attacked"))
    with attacked.broker:
        with WireClient(attacked.port) as client:
            salted = MECHANISMS["SCRAM-SHA-256"].salted(PASSWORD, b"salt", 4096)
            upsertion = ScramCredentialUpsertion(
                name="alice", mechanism=1, iterations=4096, salt=b"salt", salted_password=salted
            )
            answer = client.call(AlterUserScramCredentialsRequest(deletions=[], upsertions=[upsertion]))
            assert answer.results[0].error_code == ErrorCode.NONE
        yield attacked
        assert "secret" not in attacked.broker.log_path.read_text().replace("[hidden]", "")


def choose(client: WireClient, mechanism: str, version: int = 1) -> None:
    assert client.call(SaslHandshakeRequest(mechanism=mechanism), version).error_code == ErrorCode.NONE


def tell(client: WireClient, message: bytes) -> Any:
    return client.call(SaslAuthenticateRequest(auth_bytes=message), 2)


def log_in(client: WireClient, user: str = "alice", password: str = PASSWORD) -> Any:
    choose(client, "PLAIN")
    return tell(client, f"\0{user}\0{password}".encode())


def refused_line(attacked: Guarded, client: WireClient, answer: Any) -> str:
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert client.is_closed_by_broker()
    return attacked.the_line_about(client)


def test_noise(attacked: Guarded) -> None:
    for seed in range(100):
        rng = Random(seed)
        attacked.bear(rng.randbytes(rng.randrange(1, 2000)))


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "OAUTHBEARER"])
def test_noise_within_a_login(attacked: Guarded, mechanism: str, version: int) -> None:
    for seed in range(10):
        with attacked.connect() as client:
            choose(client, mechanism, version)
            client.try_to_send(framed(Random(seed).randbytes(seed * 7)))
            assert client.is_closed_by_broker()
            attacked.the_line_about(client)


def test_tls_where_nobody_expects_it(attacked: Guarded) -> None:
    attacked.bear(bytes.fromhex("16030100f8010000f40303") + bytes(240))
    attacked.bear(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")


@pytest.mark.parametrize("size", [SASL_MESSAGE_BYTES_MAX + 1, 0x7FFFFFFF, -1])
def test_frames_that_are_too_large_before_a_login(attacked: Guarded, size: int) -> None:
    with attacked.connect() as client:
        client.try_to_send(struct.pack(">i", size))
        assert client.is_closed_by_broker()
        assert "sasl.server.max.receive.size" in attacked.the_line_about(client)


def test_frames_may_be_large_after_a_login(attacked: Guarded) -> None:
    with attacked.connect() as client:
        assert log_in(client).error_code == ErrorCode.NONE
        client.send_bytes(struct.pack(">i", 50 * MB))
        assert client.is_open()
        client.close()


def test_every_other_api_before_a_login(attacked: Guarded) -> None:
    with WireClient(attacked.port) as client:
        served = [api.api_key for api in client.call(HELLO, 3).api_keys]
    for key in served:
        if key in (HELLO.API_KEY, SaslHandshakeRequest.API_KEY):
            continue
        request = request_class(key)
        assert request is not None
        for begun in (False, True):
            with attacked.connect() as client:
                if begun:
                    choose(client, "SCRAM-SHA-256")
                client.try_to_send(framed(struct.pack(">hhih", key, request.VERSIONS.high, 7, -1) + bytes(9)))
                assert client.is_closed_by_broker(), request
                attacked.the_line_about(client)


def test_a_login_is_not_skipped_by_pipelining(attacked: Guarded) -> None:
    with attacked.connect() as client:
        requests: list[tuple[Request, int]] = [
            (SaslHandshakeRequest(mechanism="PLAIN"), 1),
            (SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong"), 2),
            (DescribeClusterRequest(), 1),
        ]
        client.send_bytes(b"".join(framed(request_bytes(*each)) for each in requests))
        client.receive_frame()
        client.receive_frame()
        with pytest.raises(HungUp):
            client.receive_frame()
        assert "another password" in attacked.the_line_about(client)


def test_recorded_messages(attacked: Guarded) -> None:
    login = client_login("SCRAM-SHA-256", "alice", PASSWORD)
    recorded = [next(login)]
    with attacked.connect() as client:
        choose(client, "SCRAM-SHA-256")
        recorded.append(login.send(bytes(tell(client, recorded[0]).auth_bytes)))
        assert tell(client, recorded[1]).error_code == ErrorCode.NONE
    with attacked.connect() as client:
        choose(client, "SCRAM-SHA-256")
        tell(client, recorded[0])
        line = refused_line(attacked, client, tell(client, recorded[1]))
        assert "belongs to another exchange" in line


def test_guessing_is_slow_and_logged(attacked: Guarded) -> None:
    with attacked.connect() as client:
        line = refused_line(attacked, client, log_in(client, "alice", "guess"))
        assert "'alice'" in line
        assert "guess" not in line
    with attacked.connect() as client:
        choose(client, "PLAIN")
        client.send(SaslAuthenticateRequest(auth_bytes=b"\0alice\0guess"), 2)
        client.close()
        wait_until(lambda: bool(attacked.lines_about(client)), "a client that does not wait is logged")


def test_names_cannot_forge_the_log(attacked: Guarded) -> None:
    name = "x' exists\n2026-01-01 INFO moldau: all is well " + "y" * 5000
    with attacked.connect() as client:
        line = refused_line(attacked, client, log_in(client, name))
        assert r"\n2026" in line
        assert len(line) < 500


def test_nobody_becomes_another_user(attacked: Guarded) -> None:
    with attacked.connect() as client:
        log_in(client, "bob", "word")
        line = refused_line(attacked, client, log_in(client))
        assert "login of 'User:bob' was to be renewed as 'User:alice'" in line


def token(key: RSAKey = KEY, **changed: object) -> str:
    claims = {
        "sub": "carol",
        "aud": "kafka",
        "iat": int(time.time()),
        "exp": int(time.time()) + 300,
        **changed,
    }
    return jwt.encode({"alg": "RS256", "kid": "provider"}, claims, key)


def part(content: object) -> str:
    return urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


def test_tokens(attacked: Guarded) -> None:
    now = int(time.time())
    _, claims, signature = token().split(".")
    bad = {
        f"{part({'alg': 'none'})}.{claims}.": "'none', which is not accepted",
        f"{part({'alg': 'HS256', 'kid': 'provider'})}.{claims}.{signature}": "'HS256', which is not accepted",
        token(exp=now - 100, iat=now - 200): "the token expired",
        token(nbf=now + 100): "not valid before",
        token(aud="somebody"): "is for 'somebody'",
        token(RSAKey.generate_key(2048, private=True)): "signature is wrong",
        token(sub="")[:-4] + "AAAA": "signature is wrong",
        "x": "three parts",
    }
    for each, reason in bad.items():
        with attacked.connect() as client:
            choose(client, "OAUTHBEARER")
            told = tell(client, f"n,,\x01auth=Bearer {each}\x01\x01".encode())
            assert bytes(told.auth_bytes) == b'{"status":"invalid_token"}'
            assert reason in refused_line(attacked, client, tell(client, b"\x01"))
    with attacked.connect() as client:
        choose(client, "OAUTHBEARER")
        told = tell(client, f"n,,\x01auth=Bearer {token()}\x01\x01".encode())
        assert told.error_code == ErrorCode.NONE
        assert 0 < told.session_lifetime_ms <= 300_000
        assert client.call(DescribeClusterRequest()).error_code == ErrorCode.NONE


def test_a_crowd_that_stops_in_the_middle(attacked: Guarded) -> None:
    with ExitStack() as clients:
        for number in range(CROWD):
            client = clients.enter_context(attacked.connect())
            choose(client, ("PLAIN", "SCRAM-SHA-256")[number % 2])
            if number % 4 == 1:
                tell(client, b"n,,n=alice,r=abc")
            elif number % 4 == 3:
                client.send_bytes(struct.pack(">i", SASL_MESSAGE_BYTES_MAX))
        with attacked.connect() as client:
            assert log_in(client).error_code == ErrorCode.NONE
            assert client.call(DescribeClusterRequest()).error_code == ErrorCode.NONE
