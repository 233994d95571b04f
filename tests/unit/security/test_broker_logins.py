"""How brokers log in to each other: with which mechanism, and where their tokens come from and when."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, Key, RSAKey

from moldau.core.errors import ConfigError, PeerError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.resolve import BrokerLayers
from moldau.security.sasl.broker_login import broker_login
from moldau.security.sasl.client_login import token_login
from moldau.security.sasl.exchange import Exchange, Login, LoginRefused
from moldau.security.sasl.jaas import parse_jaas
from moldau.security.sasl.oauthbearer import OAuthBearerExchange
from moldau.security.sasl.token_claims import TokenRules, login_of_claims
from moldau.security.sasl.token_keys import unsecured_claims
from moldau.security.sasl.token_sources import RefreshPace, TokenSources, unsecured_token

NOW_MS = 1_700_000_000_000
RSA = RSAKey.generate_key(2048, private=True)
EC = ECKey.generate_key("P-256", private=True)
ENDPOINT = "https://login.example/token"
JAAS = "listener.name.x.oauthbearer.sasl.jaas.config"
OAUTH = {"sasl.mechanism.inter.broker.protocol": "OAUTHBEARER", JAAS: "OAuthBearerLoginModule required;"}


def token_of(user: str, issued_ms: int, life_s: int, **more: object) -> str:
    claims = {"sub": user, "iat": issued_ms // 1000, "exp": issued_ms // 1000 + life_s, **more}
    parts = (
        base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=")
        for each in ({"alg": "none"}, claims)
    )
    return ".".join([*parts, ""])


class Provider:
    """Gives tokens of a minute, and remembers how it was asked."""

    def __init__(self) -> None:
        self.now_ms = NOW_MS
        self.asked: list[tuple[str, Mapping[str, str], bytes | None, float]] = []
        self.problem: Exception | None = None
        self.life_s = 60
        self.sources = TokenSources(
            self.fetch, lambda: self.now_ms, jitter=lambda: 0.5, new_id=lambda: f"id-{len(self.asked)}"
        )

    def fetch(self, url: str, headers: Mapping[str, str], body: bytes | None, timeout_s: float) -> bytes:
        self.asked.append((url, headers, body, timeout_s))
        if self.problem is not None:
            raise self.problem
        token = token_of(f"broker-{len(self.asked)}", self.now_ms, self.life_s)
        return token.encode() if url.startswith("file://") else json.dumps({"access_token": token}).encode()

    def token(self, **properties: str) -> str:
        """By the settings, where `_` stands for a point."""
        module = parse_jaas(properties.pop("jaas", "OAuthBearerLoginModule required;"), JAAS)
        texts = {f"sasl.{name.replace('_', '.')}": text for name, text in properties.items()}
        return self.sources.source(settings(texts), "X", module).token()


def settings(properties: Mapping[str, str]) -> BrokerSettings:
    return BrokerLayers(static=dict(properties)).settings()


def user_of(token: str) -> str:
    user: str = unsecured_claims(token)["sub"]
    return user


def converse(exchange: Exchange, login: Any) -> None:
    message = next(login)
    with pytest.raises(StopIteration):
        while True:
            message = login.send(exchange.answer(message))


def test_the_exchange_of_oauthbearer() -> None:
    exchange = OAuthBearerExchange(lambda token: Login(token), is_slow=False)
    converse(exchange, token_login(lambda: "a.b.c"))
    assert exchange.login == Login("a.b.c")


def test_a_refused_token_ends_the_login_on_both_sides() -> None:
    def check(token: str) -> Login:
        return login_of_claims(unsecured_claims(token), TokenRules(required_scopes=frozenset({"x"})), NOW_MS)

    exchange = OAuthBearerExchange(check, is_slow=False)
    login = token_login(lambda: token_of("a", NOW_MS, 60))
    answer = exchange.answer(next(login))
    assert b"insufficient_scope" in answer
    with pytest.raises(LoginRefused):
        exchange.answer(login.send(answer))
    with pytest.raises(PeerError, match=r"refuses the token: .*insufficient_scope"):
        login.send(b"")


def test_a_token_for_the_credentials_of_a_client() -> None:
    provider = Provider()
    named = {
        "oauthbearer_token_endpoint_url": ENDPOINT,
        "oauthbearer_client_credentials_client_id": "bröker",
        "oauthbearer_client_credentials_client_secret": "s:cret",
        "oauthbearer_scope": "kafka write",
        "login_read_timeout_ms": "3000",
    }
    assert user_of(provider.token(**named)) == "broker-1"
    ((url, headers, body, timeout_s),) = provider.asked
    assert (url, timeout_s) == (ENDPOINT, 3)
    assert base64.b64decode(headers["Authorization"].removeprefix("Basic ")).decode() == "bröker:s:cret"
    assert parse_qs((body or b"").decode()) == {
        "grant_type": ["client_credentials"],
        "scope": ["kafka write"],
    }
    of_module = 'OAuthBearerLoginModule required clientId="a" clientSecret="b";'
    assert user_of(provider.token(oauthbearer_token_endpoint_url=ENDPOINT, jaas=of_module)) == "broker-2"
    assert provider.asked[-1][2] == b"grant_type=client_credentials"


def test_a_token_is_kept_until_it_is_time_for_another_one() -> None:
    provider = Provider()
    provider.life_s = 1000
    url = {"oauthbearer_token_endpoint_url": "file:///run/token"}
    assert {user_of(provider.token(**url)) for _ in range(3)} == {"broker-1"}
    # 300 s before its end come before 82.5 % of its life.
    provider.now_ms += 699_000
    assert user_of(provider.token(**url)) == "broker-1"
    provider.now_ms += 2_000
    assert user_of(provider.token(**url)) == "broker-2"


def test_a_token_that_is_still_good_is_kept_while_there_is_no_other(caplog: pytest.LogCaptureFixture) -> None:
    provider = Provider()
    url = {"oauthbearer_token_endpoint_url": "file:///run/token"}
    first = provider.token(**url)
    provider.problem = OSError("no such file")
    provider.now_ms += 55_000
    assert provider.token(**url) == first
    assert "no such file; correct sasl.oauthbearer.token.endpoint.url" in caplog.text
    provider.now_ms += 6_000
    with pytest.raises(PeerError, match="there is no token for the login to other brokers: no such file"):
        provider.token(**url)
    provider.problem, provider.life_s = None, -5
    with pytest.raises(PeerError, match="expired 5 s ago"):
        provider.token(**url)
    provider.life_s = 60
    assert user_of(provider.token(**url)) == "broker-5"


@pytest.mark.parametrize(
    ("life_ms", "expected"),
    [(1_000_000, 700_000), (10_000_000, 8_000_000), (400_000, 100_000), (100_000, 80_000)],
)
def test_the_pace_is_kafkas(life_ms: int, expected: int) -> None:
    assert RefreshPace(0.8, 60_000, 300_000).due_ms(0, life_ms, 0) == expected


def test_unsecured_tokens() -> None:
    options = {
        "unsecuredLoginStringClaim_sub": "admin",
        "unsecuredLoginListClaim_scope": "|read|write",
        "unsecuredLoginNumberClaim_level": "3",
        "unsecuredLoginLifetimeSeconds": "60",
        "unsecuredValidatorAllowableClockSkewMs": "5",
    }
    claims = unsecured_claims(unsecured_token(options, NOW_MS))
    assert claims == {
        "sub": "admin",
        "scope": ["read", "write"],
        "level": 3,
        "iat": NOW_MS / 1000,
        "exp": NOW_MS / 1000 + 60,
    }
    assert login_of_claims(claims, TokenRules(), NOW_MS) == Login("admin", NOW_MS + 60_000)
    with pytest.raises(ValueError, match="unsecuredLoginStringClaim_user"):
        unsecured_token(options | {"unsecuredLoginPrincipalClaimName": "user"}, NOW_MS)


def test_answers_that_are_no_tokens() -> None:
    for answer in (b"{}", b"[]", b"noise", b'{"access_token": "opaque"}', b'{"access_token": "e30.e30."}'):
        sources = TokenSources(
            lambda *asked, answer=answer: answer, lambda: NOW_MS, jitter=lambda: 0, new_id=lambda: "id"
        )
        texts = {
            "sasl.oauthbearer.token.endpoint.url": ENDPOINT,
            "sasl.oauthbearer.client.credentials.client.id": "a",
            "sasl.oauthbearer.client.credentials.client.secret": "my-secret",
        }
        source = sources.source(settings(texts), "X", parse_jaas("OAuthBearerLoginModule required;", JAAS))
        with pytest.raises(PeerError, match="there is no token") as refusal:
            source.token()
        assert "my-secret" not in str(refusal.value)


ASSERTED = {
    "oauthbearer_token_endpoint_url": ENDPOINT,
    "oauthbearer_assertion_claim_iss": "me",
    "oauthbearer_assertion_claim_sub": "broker",
    "oauthbearer_assertion_claim_aud": "provider",
}


def assertion_of(body: bytes | None) -> str:
    form = parse_qs((body or b"").decode())
    assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
    return form["assertion"][0]


@pytest.mark.parametrize(("algorithm", "key"), [("RS256", RSA), ("es256", EC)])
def test_a_token_for_a_signed_assertion(tmp_path: Path, algorithm: str, key: Key) -> None:
    provider, file, template = Provider(), tmp_path / "key.pem", tmp_path / "template.json"
    file.write_bytes(key.as_pem(private=True, password="of-the-key"))
    template.write_text('{"header": {"kid": "k1"}, "payload": {"tenant": 7, "sub": "other"}}')
    more = {
        "oauthbearer_assertion_algorithm": algorithm,
        "oauthbearer_assertion_private_key_file": str(file),
        "oauthbearer_assertion_private_key_passphrase": "of-the-key",
        "oauthbearer_assertion_template_file": str(template),
        "oauthbearer_assertion_claim_jti_include": "true",
    }
    assert user_of(provider.token(**ASSERTED, **more)) == "broker-1"
    ((_, headers, body, _),) = provider.asked
    assert "Authorization" not in headers
    read = jwt.decode(assertion_of(body), key, algorithms=[algorithm.upper()])
    assert read.header == {"typ": "JWT", "kid": "k1", "alg": algorithm.upper()}
    assert read.claims == {
        "tenant": 7,
        "sub": "broker",
        "iss": "me",
        "aud": "provider",
        "jti": "id-0",
        "iat": NOW_MS // 1000,
        "exp": NOW_MS // 1000 + 300,
        "nbf": NOW_MS // 1000 - 60,
    }
    with pytest.raises(PeerError, match=r"has no key for .*, or another passphrase") as refusal:
        provider.token(**ASSERTED, **(more | {"oauthbearer_assertion_private_key_passphrase": "wrong-word"}))
    assert "wrong-word" not in str(refusal.value)


def test_a_token_for_a_ready_assertion(tmp_path: Path) -> None:
    provider, file = Provider(), tmp_path / "assertion"
    file.write_text("a.b.c\n")
    assert user_of(provider.token(**ASSERTED, oauthbearer_assertion_file=str(file))) == "broker-1"
    assert assertion_of(provider.asked[0][2]) == "a.b.c"
    with pytest.raises(ConfigError, match="there is no file /nowhere"):
        provider.token(**ASSERTED, oauthbearer_assertion_file="/nowhere")


KERBEROS = {"sasl.mechanism.inter.broker.protocol": "GSSAPI"}
GSSAPI_JAAS = "listener.name.x.gssapi.sasl.jaas.config"


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        (
            {"sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-1"},
            "set sasl.mechanism.inter.broker.protocol to one of",
        ),
        ({"sasl.mechanism.inter.broker.protocol": "PLAIN"}, "plain.sasl.jaas.config is not set"),
        (OAUTH, "token.endpoint.url is None; set it"),
        (OAUTH | {"sasl.oauthbearer.token.endpoint.url": "login.example"}, "is 'login.example'; set it"),
        (
            OAUTH | {"sasl.oauthbearer.token.endpoint.url": ENDPOINT},
            "set sasl.oauthbearer.client.credentials.client.id",
        ),
        (KERBEROS, "the principal and the file of its keys"),
        (KERBEROS | {GSSAPI_JAAS: "Krb5LoginModule required;"}, "has no keyTab and no principal"),
        (
            KERBEROS | {GSSAPI_JAAS: 'Krb5LoginModule required keyTab="/nowhere" principal="kafka/a@B";'},
            "there is no file /nowhere",
        ),
        (
            KERBEROS | {GSSAPI_JAAS: "Krb5LoginModule required useTicketCache=true;"},
            "sasl.kerberos.service.name is not set",
        ),
        (
            KERBEROS
            | {
                GSSAPI_JAAS: "Krb5LoginModule required useTicketCache=true serviceName=a;",
                "sasl.kerberos.service.name": "b",
            },
            "keep one of them",
        ),
    ],
)
def test_settings_that_do_not_say_how(properties: dict[str, str], complaint: str) -> None:
    if "GSSAPI" in properties.values():
        pytest.importorskip("gssapi", reason="the package gssapi is not installed")
    with pytest.raises(ConfigError, match=complaint):
        broker_login(settings(properties), "X", "host", Provider().sources)
