"""OAUTHBEARER with real clients: tokens signed by a provider whose keys change, and unsecured tokens."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import kafka
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider
from confluent_kafka import Producer
from joserfc import jwt
from joserfc.jwk import ECKey, Key, RSAKey
from kafka.net.sasl.oauth import AbstractTokenProvider as KafkaPythonTokenProvider

from compat.client import Record
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaClient, JavaDriver
from compat.moldau_broker import MoldauBroker
from compat.node_clients import KafkajsClient, PlatformaticClient
from compat.server_process import free_port, wait_until
from kafka_jars import KafkaJarsUnavailable

PACKAGE = "org.apache.kafka.common.security.oauthbearer"
MODULE = f"{PACKAGE}.OAuthBearerLoginModule"
ISSUER = "https://provider.example"
TOKEN_LIFE_S = 300
TIMEOUT_S = 60


class Provider:
    """An identity provider: it serves its public keys and signs tokens."""

    def __init__(self) -> None:
        self.key: Key = RSAKey.generate_key(2048, {"kid": "first"}, private=True)
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                document = json.dumps({"keys": [provider.key.as_dict(private=False)]}).encode()
                self.send_response(200)
                self.end_headers()
                self.wfile.write(document)

            def log_message(self, format: str, *args: object) -> None:
                """Nobody wants to know."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/keys"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def token(self, life_s: int = TOKEN_LIFE_S, **changed: object) -> str:
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "aud": "kafka",
            "iat": now,
            "exp": now + life_s,
            "sub": "carol",
            "scope": "write",
        }
        algorithm = "RS256" if isinstance(self.key, RSAKey) else "ES256"
        header = {"alg": algorithm, "kid": str(self.key.kid)}
        return jwt.encode(header, {**claims, **changed}, self.key, algorithms=[algorithm])

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Guarded:
    def __init__(self, folder: Path, provider: Provider) -> None:
        self.provider = provider
        ports = {name: free_port() for name in ("OPEN", "SIGNED", "UNSECURED")}
        settings = {
            "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
            "listener.security.protocol.map": "OPEN:PLAINTEXT,SIGNED:SASL_PLAINTEXT,UNSECURED:SASL_PLAINTEXT",
            "inter.broker.listener.name": "OPEN",
            "sasl.enabled.mechanisms": "OAUTHBEARER",
            "listener.name.signed.oauthbearer.sasl.jaas.config": f'{MODULE} required requiredScope="write";',
            "listener.name.signed.oauthbearer.sasl.oauthbearer.jwks.endpoint.url": provider.url,
            "listener.name.signed.oauthbearer.sasl.oauthbearer.expected.audience": "kafka",
            "listener.name.signed.oauthbearer.sasl.oauthbearer.expected.issuer": ISSUER,
            "listener.name.signed.oauthbearer.sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": "0",
            "listener.name.unsecured.oauthbearer.sasl.jaas.config": (
                f'{MODULE} required unsecuredLoginStringClaim_sub="admin";'
            ),
        }
        self.broker = MoldauBroker(folder, settings)
        self.open = f"127.0.0.1:{ports['OPEN']}"
        self.signed = f"127.0.0.1:{ports['SIGNED']}"
        self.unsecured = f"127.0.0.1:{ports['UNSECURED']}"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    provider = Provider()
    guarded = Guarded(tmp_path_factory.mktemp("tokens"), provider)
    with guarded.broker:
        yield guarded
    provider.close()


def librdkafka(guarded: Guarded, token: Callable[[], tuple[str, float]], **more: Any) -> Producer:
    return Producer(
        {
            "bootstrap.servers": guarded.signed,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "OAUTHBEARER",
            "oauth_cb": lambda _: token(),
            "log_level": 0,
            **more,
        }
    )


def write_one(guarded: Guarded, topic: str) -> None:
    failed: list[object] = []
    producer = librdkafka(guarded, lambda: (guarded.provider.token(), time.time() + TOKEN_LIFE_S))
    producer.produce(topic, b"x", on_delivery=lambda error, _: failed.append(error) if error else None)
    assert producer.flush(TIMEOUT_S) == 0
    assert failed == []


def test_librdkafka(guarded: Guarded) -> None:
    write_one(guarded, "librdkafka")
    assert len(ConfluentClient(guarded.open).consume("librdkafka", count=1)) == 1


def test_the_providers_keys_change(guarded: Guarded) -> None:
    write_one(guarded, "keys")
    guarded.provider.key = ECKey.generate_key("P-256", {"kid": "second"}, private=True)
    write_one(guarded, "keys")


@pytest.mark.parametrize(
    "changed", [{"aud": "others"}, {"iss": "https://elsewhere"}, {"scope": "read"}, {"exp": 1}]
)
def test_a_bad_token_is_refused(guarded: Guarded, changed: dict[str, object]) -> None:
    complaints: list[str] = []
    producer = librdkafka(
        guarded,
        lambda: (guarded.provider.token(**changed), time.time() + TOKEN_LIFE_S),
        error_cb=lambda error: complaints.append(error.str()),
    )

    def is_refused() -> bool:
        producer.poll(0.05)
        return any("invalid_token" in each or "insufficient_scope" in each for each in complaints)

    wait_until(is_refused, "librdkafka reports the refused token")


@pytest.mark.slow
def test_librdkafka_renews_its_token(guarded: Guarded) -> None:
    """Each token lives for three seconds only, and a producer writes for longer."""
    failed: list[object] = []
    made: list[str] = []

    def token() -> tuple[str, float]:
        made.append(guarded.provider.token(life_s=3))
        return made[-1], time.time() + 3

    producer = librdkafka(guarded, token)

    def is_renewed() -> bool:
        producer.produce(
            "renewed", b"x", on_delivery=lambda error, _: failed.append(error) if error else None
        )
        producer.flush(TIMEOUT_S)
        return len(made) > 1

    wait_until(is_renewed, "the token was renewed")
    assert failed == []


def test_aiokafka(guarded: Guarded) -> None:
    class Tokens(AbstractTokenProvider):
        async def token(self) -> str:
            return guarded.provider.token()

    async def write() -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=guarded.signed,
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="OAUTHBEARER",
            sasl_oauth_token_provider=Tokens(),
        )
        async with producer:
            await producer.send_and_wait("aiokafka", b"x")

    asyncio.run(write())


def test_kafka_python(guarded: Guarded) -> None:
    class Tokens(KafkaPythonTokenProvider):
        def token(self) -> str:
            return guarded.provider.token()

    producer = kafka.KafkaProducer(
        bootstrap_servers=guarded.signed,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_oauth_token_provider=Tokens(),
    )
    producer.send("kafka-python", b"x").get(TIMEOUT_S)
    producer.close()


@pytest.mark.parametrize("name", ["kafkajs", "platformatic"])
def test_clients_of_node(guarded: Guarded, request: pytest.FixtureRequest, name: str) -> None:
    driver = request.getfixturevalue(f"{name}_driver")
    client = {"kafkajs": KafkajsClient, "platformatic": PlatformaticClient}[name](driver, guarded.signed)
    ConfluentClient(guarded.open).create_topic(name)
    client.produce(name, [Record(value=b"x")], {"sasl.token": guarded.provider.token()})
    assert len(ConfluentClient(guarded.open).consume(name, count=1)) == 1


@pytest.mark.java
def test_signed_tokens_of_java(guarded: Guarded, tmp_path: Path) -> None:
    """Java reads its token from a file; a JVM is told once from where it may."""
    token = tmp_path / "token"
    token.write_text(guarded.provider.token())
    allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={token.as_uri()}"
    try:
        driver = JavaDriver(tmp_path / "driver.log", (allowed,))
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f"{MODULE} required;",
        "sasl.login.callback.handler.class": f"{PACKAGE}.OAuthBearerLoginCallbackHandler",
        "sasl.oauthbearer.token.endpoint.url": token.as_uri(),
    }
    ConfluentClient(guarded.open).create_topic("java-signed")
    JavaClient(driver, guarded.signed).produce("java-signed", [Record(value=b"x")], settings)
    driver.close()


@pytest.mark.java
def test_unsecured_tokens_of_java(guarded: Guarded, java_driver: JavaDriver) -> None:
    client = JavaClient(java_driver, guarded.unsecured)
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f'{MODULE} required unsecuredLoginStringClaim_sub="dave";',
    }
    ConfluentClient(guarded.open).create_topic("java")
    client.produce("java", [Record(value=b"x")], settings)
    assert len(client.consume("java", count=1, settings=settings)) == 1
