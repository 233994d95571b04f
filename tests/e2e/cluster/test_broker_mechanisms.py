"""Brokers that log in to each other by OAUTHBEARER, with tokens that end all the time, and by Kerberos."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from joserfc import jwt
from joserfc.jwk import RSAKey

from compat.server_process import wait_until
from e2e.cli.shell import Shell
from kerberos_kit import REALM, KerberosMissing, Realm
from moldau.testing.cluster_security import Security
from moldau.testing.local_cluster import LocalCluster

TOKEN_LIFE_S = 2
WAIT_S = 60
CLIENT = "Basic YnJva2VyOnMzY3IzdA=="
"""broker:s3cr3t"""
OAUTH_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
KERBEROS_MODULE = "com.sun.security.auth.module.Krb5LoginModule"


class Provider:
    """An identity provider: it gives tokens to one client, and its public keys to everybody."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "only"}, private=True)
        self.given = 0
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(200, {"keys": [provider.key.as_dict(private=False)]})

            def do_POST(self) -> None:
                asked = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers["Authorization"] != CLIENT or asked != b"grant_type=client_credentials":
                    self._answer(401, {"error": "invalid_client"})
                    return
                provider.given += 1
                self._answer(200, {"access_token": provider.token(), "token_type": "bearer"})

            def _answer(self, status: int, content: object) -> None:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(content).encode())

            def log_message(self, format: str, *args: object) -> None:
                """Nobody wants to know."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def token(self) -> str:
        now_s = time.time()
        claims = {"sub": "broker", "aud": "kafka", "iat": now_s, "exp": now_s + TOKEN_LIFE_S}
        return jwt.encode({"alg": "RS256", "kid": "only"}, claims, self.key, algorithms=["RS256"])

    @contextmanager
    def serving(self) -> Iterator[None]:
        thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.server.shutdown()
            self.server.server_close()
            thread.join(WAIT_S)


@contextmanager
def cluster(mechanism: str, settings: dict[str, str]) -> Iterator[LocalCluster]:
    security = Security(protocol="SASL_PLAINTEXT", mechanism="PLAIN", acls=True)
    common = {
        "sasl.enabled.mechanisms": f"PLAIN,{mechanism}",
        "sasl.mechanism.inter.broker.protocol": mechanism,
        "super.users": "User:admin;User:broker;User:kafka",
    }
    with LocalCluster(brokers=2, security=security, settings={**common, **settings}) as running:
        yield running


def write_to_all(running: LocalCluster, topic: str) -> None:
    """A record that both brokers have."""
    told: list[object] = []

    def delivered(error: object, _: Message) -> None:
        told.append(error)

    producer = Producer({**running.client_settings(), "acks": "all", "message.timeout.ms": WAIT_S * 1000})
    producer.produce(topic, b"x", on_delivery=delivered)
    producer.flush(WAIT_S)
    assert told == [None]


def create(running: LocalCluster, topic: str) -> None:
    new = NewTopic(topic, 1, 2, config={"min.insync.replicas": "2"})
    admin = AdminClient(running.client_settings())
    admin.create_topics([new])[topic].result(WAIT_S)


def as_client(provider: Provider) -> list[str]:
    """Options of a command that has its tokens from the same provider."""
    properties = {
        "security.protocol": "sasl_plaintext",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": "broker",
        "sasl.oauthbearer.client.secret": "s3cr3t",
        "sasl.oauthbearer.token.endpoint.url": f"{provider.url}/token",
    }
    return [word for name, value in properties.items() for word in ("-X", f"{name}={value}")]


def test_oauthbearer_with_tokens_that_end() -> None:
    provider = Provider()
    settings = {
        "sasl.oauthbearer.token.endpoint.url": f"{provider.url}/token",
        "sasl.oauthbearer.client.credentials.client.id": "broker",
        "sasl.oauthbearer.client.credentials.client.secret": "s3cr3t",
        "sasl.oauthbearer.jwks.endpoint.url": f"{provider.url}/keys",
        "sasl.oauthbearer.expected.audience": "kafka",
        "sasl.oauthbearer.clock.skew.seconds": "0",
        "sasl.login.refresh.window.factor": "0.5",
        "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config": f"{OAUTH_MODULE} required;",
    }
    with provider.serving(), cluster("OAUTHBEARER", settings) as running:
        create(running, "renewed")
        write_to_all(running, "renewed")
        described = Shell(running.bootstrap_servers).run(
            "configs", "describe", "broker", "1", *as_client(provider)
        )
        assert "sasl.mechanism.inter.broker.protocol" in described
        given = provider.given
        assert given >= 2
        # The follower has got further tokens, so the one before has ended, and its login with it.
        wait_until(lambda: provider.given >= given + 2, "brokers get further tokens", WAIT_S)
        write_to_all(running, "renewed")


def test_kerberos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gssapi", reason="the package gssapi is not installed")
    try:
        realm = Realm(tmp_path)
    except KerberosMissing as reason:
        pytest.skip(str(reason))
    for name, value in realm.environment.items():
        monkeypatch.setenv(name, value)
    keys = realm.keys_of("kafka/127.0.0.1")
    settings = {
        "sasl.kerberos.service.name": "kafka",
        "listener.name.sasl_plaintext.gssapi.sasl.jaas.config": (
            f'{KERBEROS_MODULE} required useKeyTab=true storeKey=true keyTab="{keys}" '
            f'principal="kafka/127.0.0.1@{REALM}";'
        ),
        # Logins end and are renewed.
        "listener.name.sasl_plaintext.gssapi.connections.max.reauth.ms": "1000",
    }
    with realm.serving(), cluster("GSSAPI", settings) as running:
        create(running, "by-kerberos")
        write_to_all(running, "by-kerberos")
        until = time.monotonic() + 1.2
        while time.monotonic() < until:
            write_to_all(running, "by-kerberos")
