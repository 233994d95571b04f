"""The token with which our own connections log in by OAUTHBEARER."""

import base64
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

import click
import pytest

from moldau.cli.client.wire_security import Security
from moldau.cli.client.wire_tokens import bearer_token
from moldau.cli.failures import Failure
from moldau.security.sasl.token_keys import unsecured_claims

SASL = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"}


class Provider(HTTPServer):
    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, list[str]]]] = []
        super().__init__(("127.0.0.1", 0), Answers)

    def properties(self, path: str = "/token") -> dict[str, str]:
        return {
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": "me",
            "sasl.oauthbearer.client.secret": "s3cr3t",
            "sasl.oauthbearer.scope": "kafka",
            "sasl.oauthbearer.token.endpoint.url": f"http://127.0.0.1:{self.server_port}{path}",
        }


class Answers(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.asked.append((self.headers["Authorization"], form))
        self.send_response({"/token": 200, "/moved": 302}.get(self.path, 401))
        self.send_header("Location", "/token")
        self.end_headers()
        self.wfile.write(b'{"access_token": "a.b.c"}')

    def log_message(self, format: str, *args: object) -> None:
        """Nobody wants to know."""


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


def test_a_token_of_a_provider_is_asked_for_once(provider: Provider) -> None:
    security = Security(SASL | provider.properties())
    for _ in range(2):
        assert next(security.login()) == b"n,,\x01auth=Bearer a.b.c\x01\x01"
    proof = base64.b64encode(b"me:s3cr3t").decode()
    assert provider.asked == [(f"Basic {proof}", {"grant_type": ["client_credentials"], "scope": ["kafka"]})]


@pytest.mark.parametrize(("path", "reason"), [("/other", "401"), ("/moved", "302")])
def test_a_provider_that_gives_no_token(provider: Provider, path: str, reason: str) -> None:
    with pytest.raises(Failure, match=f"cannot get a token from http.*{path}: .*{reason}") as failure:
        bearer_token(provider.properties(path))
    assert "s3cr3t" not in failure.value.message
    assert len(provider.asked) == 1


def test_an_unsecured_token() -> None:
    properties = {
        "enable.sasl.oauthbearer.unsecure.jwt": "true",
        "sasl.oauthbearer.config": "principal=alice scope=read,write lifeSeconds=60",
    }
    claims = unsecured_claims(bearer_token(properties))
    assert (claims["sub"], claims["scope"]) == ("alice", ["read", "write"])
    assert claims["exp"] - claims["iat"] == 60


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        ({}, "needs sasl.oauthbearer.method=oidc with"),
        ({"sasl.oauthbearer.method": "oidc"}, "needs sasl.oauthbearer.token.endpoint.url=https"),
        ({"enable.sasl.oauthbearer.unsecure.jwt": "true"}, "needs principal=NAME"),
    ],
)
def test_properties_that_do_not_say_how(properties: dict[str, str], complaint: str) -> None:
    with pytest.raises(click.UsageError, match=complaint):
        bearer_token(properties)
