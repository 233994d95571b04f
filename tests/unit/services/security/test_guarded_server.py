"""A server with HTTPS and logins, over real sockets."""

import base64
import http.client
import json
import logging
import os
import ssl
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey
from starlette.types import Receive, Scope, Send

from moldau.core.errors import ConfigError
from moldau.security.certificates.authority import Issued, common_name, create_authority, issue
from moldau.services.http_server import HttpServer
from moldau.services.listening import Address, bound_socket
from moldau.services.security.guard import PRINCIPAL, Security
from moldau.services.security.keys import (
    GuardedHttpSecurity,
    HttpSecurity,
    PasswordSecurity,
    PrefixedHttpSecurity,
)

WAIT_S = 60.0
NOW = datetime.now(UTC)


async def who(scope: Scope, receive: Receive, send: Send) -> None:
    body = scope[PRINCIPAL].encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def authority() -> Issued:
    return create_authority("tests", now=NOW, days=2)


@pytest.fixture
def store(authority: Issued, tmp_path: Path) -> Path:
    return written(
        tmp_path / "server.pem",
        issue(authority, common_name("server"), now=NOW, hosts=["127.0.0.1", "localhost"]),
    )


def written(path: Path, identity: Issued) -> Path:
    path.write_text(identity.key_pem + identity.certificate_pem)
    return path


class Served:
    def __init__(self, settings: dict[str, str], scheme: str) -> None:
        address = Address(scheme, "127.0.0.1", 0)
        security = Security(HttpSecurity.parse(settings).security, address)
        self.security = security
        self.server = HttpServer(who, bound_socket(address, "test"), security=security)
        self.server.start_thread("test")

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop_thread()

    def ask(
        self,
        login: str | None = None,
        context: ssl.SSLContext | None = None,
        path: str = "/",
        token: str | None = None,
    ) -> tuple[int, str, dict[str, str]]:
        connection = (
            http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=WAIT_S)
            if context is None
            else http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=WAIT_S, context=context)
        )
        headers = (
            {} if login is None else {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}
        )
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), {k.lower(): v for k, v in answer.getheaders()}
        finally:
            connection.close()


@pytest.fixture
def users(tmp_path: Path) -> Path:
    path = tmp_path / "users"
    path.write_text("# people\nalice: wonder: land, reader\n\nbob: builder\n")
    return path


def basic(users: Path, **more: str) -> dict[str, str]:
    return {
        "authentication.method": "BASIC",
        "authentication.users.file": str(users),
        "authentication.realm": "house",
        **{name.replace("_", "."): value for name, value in more.items()},
    }


@pytest.fixture
def trust(authority: Issued) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority.certificate_pem)


def test_without_settings_everybody_is_anonymous() -> None:
    with Served({}, "http") as served:
        assert served.ask()[:2] == (200, "User:ANONYMOUS")


def test_a_login_is_needed_and_right(users: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), Served(basic(users), "http") as served:
        assert "unencrypted" in caplog.text
        assert served.ask("alice:wonder: land")[:2] == (200, "User:alice")
        for login in (None, "alice:land", "carol:wonder", "alice", ":", "alice:"):
            status, body, headers = served.ask(login)
            assert (status, body) == (401, '{"error_code":401,"message":"Unauthorized"}')
            assert headers["www-authenticate"] == 'Basic realm="house"'
    assert "land" not in caplog.text
    for words in ("the user 'alice' does not", "the user 'carol' does not", "not of the form"):
        assert words in caplog.text


def test_a_users_file_that_others_can_read_is_warned_of_once(
    users: Path, caplog: pytest.LogCaptureFixture
) -> None:
    users.chmod(0o600)
    security = Security(HttpSecurity.parse(basic(users)).security, Address("http", "127.0.0.1", 0))
    security.refresh()
    assert "chmod" not in caplog.text
    for mode in (0o644, 0o620, 0o602):
        users.chmod(mode)
        for _ in range(2):
            security.refresh()
        assert caplog.text.count(f"the mode {mode:03o}") == 1
    assert f"chmod 600 {users}" in caplog.text
    caplog.clear()
    Security(HttpSecurity.parse(basic(users)).security, Address("http", "127.0.0.1", 0))
    assert "the mode 602" in caplog.text


def test_roles_and_open_paths(users: Path) -> None:
    with Served(
        basic(users, authentication_roles="reader", authentication_skip_paths="/up"), "http"
    ) as served:
        assert served.ask("alice:wonder: land")[0] == 200
        assert served.ask("bob:builder")[0] == 401
        assert served.ask(path="/up")[:2] == (200, "User:ANONYMOUS")


def test_changed_users_are_taken_over_and_broken_files_are_not(
    users: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Served(basic(users), "http") as served:
        users.write_text("bob: changed\n")
        served.security.refresh()
        assert served.ask("bob:changed")[0] == 200
        assert served.ask("alice:wonder: land")[0] == 401
        users.write_text("nonsense\n")
        served.security.refresh()
        assert "users, line 1: this is not of the form" in caplog.text
        assert served.ask("bob:changed")[0] == 200


def test_https_shows_its_certificate_and_takes_over_a_new_one(
    store: Path, authority: Issued, trust: ssl.SSLContext
) -> None:
    with Served({"ssl.keystore.location": str(store)}, "https") as served:
        assert served.ask(context=trust)[:2] == (200, "User:ANONYMOUS")
        first = ssl.get_server_certificate(("127.0.0.1", served.server.port))
        other = store.with_suffix(".new")
        os.replace(
            written(other, issue(authority, common_name("server"), now=NOW, hosts=["127.0.0.1"])), store
        )
        served.security.refresh()
        assert ssl.get_server_certificate(("127.0.0.1", served.server.port)) != first
        store.write_text("broken")
        served.security.refresh()
        assert served.ask(context=trust)[0] == 200


def test_a_client_is_known_by_its_certificate(
    store: Path, authority: Issued, trust: ssl.SSLContext, tmp_path: Path
) -> None:
    anchors = tmp_path / "ca.pem"
    anchors.write_text(authority.certificate_pem)
    settings = {
        "ssl.keystore.location": str(store),
        "ssl.truststore.location": str(anchors),
        "ssl.client.authentication": "REQUIRED",
        "ssl.principal.mapping.rules": "RULE:^CN=(.*?)(,.*)?$/$1/L",
    }
    with Served(settings, "https") as served:
        with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            served.ask(context=trust)
        trust.load_cert_chain(
            written(tmp_path / "client.pem", issue(authority, common_name("Carol"), now=NOW))
        )
        assert served.ask(context=trust)[:2] == (200, "User:carol")


@pytest.fixture(params=["missing", "OBF:x", "twice"])
def wrong_users(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    path = tmp_path / "wrong"
    if request.param == "OBF:x":
        path.write_text("alice: OBF:1v2j\n")
    elif request.param == "twice":
        path.write_text("a: secret1\na: secret2\n")
    words = {"missing": "No such file", "OBF:x": "OBF is not read", "twice": "a is there twice"}
    yield path, words[request.param]


def test_users_that_cannot_be_read_are_told_before_it_listens(wrong_users: tuple[Path, str]) -> None:
    path, words = wrong_users
    with pytest.raises(ConfigError, match=words) as wrong:
        Served(basic(path), "http")
    assert "secret" not in str(wrong.value) and "1v2j" not in str(wrong.value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "https needs a certificate"),
        ({"ssl.keystore.location": "/missing.pem"}, "missing.pem"),
    ],
)
def test_https_without_a_key_is_refused(settings: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Served(settings, "https")


def test_a_method_needs_its_users() -> None:
    with pytest.raises(ConfigError, match=r"set authentication\.users\.file"):
        Served({"authentication.method": "BASIC"}, "http")


def test_where_the_names_have_a_prefix_the_others_are_left_to_the_clients() -> None:
    settings: Any = PrefixedHttpSecurity.parse({"listeners.https.ssl.keystore.location": "/x.pem"})
    assert settings.security["ssl.keystore.location"] == "/x.pem"
    assert "ssl.keystore.location" not in PrefixedHttpSecurity.KEYS


def test_a_client_that_sleeps_does_not_keep_the_server(
    store: Path, trust: ssl.SSLContext, caplog: pytest.LogCaptureFixture
) -> None:
    with Served({"ssl.keystore.location": str(store)}, "https") as served:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", served.server.port, timeout=WAIT_S, context=trust
        )
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"User:ANONYMOUS"
    assert "timeout graceful shutdown exceeded" not in caplog.text
    connection.close()


class Provider:
    """An identity provider: its public keys are in a file."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "keys.json"
        self.replace_key("first")

    def replace_key(self, name: str) -> None:
        self.key = ECKey.generate_key("P-256", {"kid": name}, private=True)
        self.file.write_text(json.dumps({"keys": [self.key.as_dict(private=False)]}))

    def token(self, **changed: object) -> str:
        now = int(time.time())
        claims = {"iss": "https://us", "aud": "services", "exp": now + 600, "sub": "carol", "scope": "use"}
        header = {"alg": "ES256", "kid": str(self.key.kid)}
        return jwt.encode(header, {**claims, **changed}, self.key, algorithms=["ES256"])

    def settings(self, **more: str) -> dict[str, str]:
        return {
            "authentication.method": "BEARER",
            "authentication.realm": "house",
            "authentication.scopes": "use",
            "sasl.oauthbearer.jwks.endpoint.url": self.file.as_uri(),
            "sasl.oauthbearer.expected.issuer": "https://us",
            "sasl.oauthbearer.expected.audience": "services",
            "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": "1",
            **more,
        }


def unsigned(header: dict[str, object]) -> str:
    parts = (header, {"sub": "carol", "exp": int(time.time()) + 600})
    texts = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return f"{'.'.join(texts)}."


@pytest.fixture
def provider(tmp_path: Path) -> Provider:
    return Provider(tmp_path)


def test_a_token_says_who_the_caller_is(provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    forged = Provider(provider.file.parent)
    provider.replace_key("first")
    now = int(time.time())
    refused = {
        "expired": provider.token(exp=now - 600),
        "not valid before": provider.token(nbf=now + 600),
        "not for services|not by|is for": provider.token(aud="others"),
        "issued by": provider.token(iss="https://them"),
        "lacks the scope use": provider.token(scope="other"),
        "names no user": provider.token(sub=""),
        "signature is wrong": forged.token(),
        "the token's signature is wrong": unsigned({"alg": "ES256", "kid": "first", "crit": 1}),
        "which is not accepted": unsigned({"alg": "none"}),
        "three parts": "nonsense",
    }
    with Served(provider.settings(), "http") as served:
        assert served.ask(token=provider.token())[:2] == (200, "User:carol")
        for words, token in refused.items():
            caplog.clear()
            status, body, headers = served.ask(token=token)
            assert (status, body) == (401, '{"error_code":401,"message":"Unauthorized"}')
            assert headers["www-authenticate"] == 'Bearer realm="house"'
            assert any(word in caplog.text for word in words.split("|"))
            assert token not in caplog.text or token == "nonsense"
        assert served.ask("alice:wonder: land")[0] == 401
        assert served.ask()[0] == 401


def test_a_new_key_of_the_provider_is_fetched_when_a_token_names_it(provider: Provider) -> None:
    with Served(provider.settings(), "http") as served:
        assert served.ask(token=provider.token())[0] == 200
        provider.replace_key("second")
        assert served.ask(token=provider.token(sub="dora"))[:2] == (200, "User:dora")


def test_tokens_and_passwords_at_one_service(provider: Provider, users: Path) -> None:
    settings = provider.settings() | basic(users) | {"authentication.method": "BASIC,BEARER"}
    with Served(settings, "http") as served, ThreadPoolExecutor(8) as clients:
        assert served.ask("alice:wonder: land")[:2] == (200, "User:alice")
        token = provider.token()
        answers = list(clients.map(lambda _: served.ask(token=token)[:2], range(32)))
        assert answers == [(200, "User:carol")] * 32
        status, _, headers = served.ask("alice:wrong")
        assert (status, headers["www-authenticate"]) == (401, 'Bearer realm="house"')


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"authentication.method": "BEARER"}, "set sasl.oauthbearer.jwks.endpoint.url"),
        ({"authentication.method": "NONE,BEARER"}, "NONE goes with no other"),
        ({"authentication.method": "NEGOTIATE"}, "any of NONE, BASIC, BEARER"),
    ],
)
def test_methods_that_cannot_work_are_refused(settings: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Served(settings, "http")


@pytest.mark.parametrize(
    ("more", "client", "words"),
    [
        ({}, {}, "security.protocol PLAINTEXT: set it to SASL_SSL"),
        (
            {},
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"},
            "set authentication.sasl.mechanism",
        ),
        ({}, None, "this service has no cluster"),
        ({"authentication.users.file": "/users"}, {"security.protocol": "SASL_SSL"}, "belong to .*=FILE"),
        ({"authentication.roles": "reader"}, {"security.protocol": "SASL_SSL"}, "belong to .*=FILE"),
    ],
)
def test_passwords_of_the_cluster_need_a_way_to_ask_it(
    more: dict[str, str], client: dict[str, str] | None, words: str
) -> None:
    settings = {"authentication.method": "BASIC", "authentication.users": "CLUSTER", **more}
    with pytest.raises(ConfigError, match=words):
        Security(HttpSecurity.parse(settings).security, Address("http", "127.0.0.1", 0), client=client)


@pytest.mark.parametrize("more", [{}, {"ssl.client.authentication": "REQUIRED"}])
def test_rights_need_to_know_the_callers(more: dict[str, str]) -> None:
    settings = GuardedHttpSecurity.parse({"authorization.enabled": "true", **more})
    with pytest.raises(ConfigError, match=r"needs to know the callers: set authentication\.method"):
        Security(settings.security, Address("http", "127.0.0.1", 0), client={})


def test_super_users_are_principals(users: Path) -> None:
    settings = GuardedHttpSecurity.parse({**basic(users), "super.users": "alice"})
    with pytest.raises(ConfigError, match="write it as User:alice"):
        Security(settings.security, Address("http", "127.0.0.1", 0), client={})


def test_services_that_are_not_http_take_no_tokens() -> None:
    with pytest.raises(ConfigError, match="one of NONE, BASIC"):
        PasswordSecurity.parse({"authentication.method": "BEARER"})
