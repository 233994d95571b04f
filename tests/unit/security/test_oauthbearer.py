"""Tokens: which are logins, which are refused and why; the exchange of OAUTHBEARER."""

import hmac
import json
import threading
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, Key, RSAKey

from moldau.core.errors import ConfigError
from moldau.core.settings.resolve import BrokerLayers
from moldau.security.sasl.exchange import Login, LoginRefused
from moldau.security.sasl.jaas import parse_jaas
from moldau.security.sasl.oauthbearer import OAuthBearerExchange
from moldau.security.sasl.token_checks import TokenChecks
from moldau.security.sasl.token_claims import TokenRefused, TokenRules, login_of_claims
from moldau.security.sasl.token_keys import TokenKeys, unsecured_claims

NOW_S = 1_700_000_000
RSA = RSAKey.generate_key(2048, {"kid": "rsa"}, private=True)
EC = ECKey.generate_key("P-256", {"kid": "ec"}, private=True)
STRANGER = RSAKey.generate_key(2048, {"kid": "rsa"}, private=True)
URL = "https://provider.example/keys"


def key_set(*keys: Key) -> bytes:
    return json.dumps({"keys": [key.as_dict(private=False) for key in keys]}).encode()


class Provider:
    """The keys at a URL, as they are at the moment."""

    def __init__(self, document: bytes) -> None:
        self.document: bytes | OSError = document
        self.fetched = 0
        self.now_ms = 0
        self.keys = TokenKeys(URL, self.fetch, lambda: self.now_ms, refresh_ms=60_000, retry_ms=10_000)

    def fetch(self, url: str) -> bytes:
        assert url == URL
        self.fetched += 1
        if isinstance(self.document, OSError):
            raise self.document
        return self.document


def claims(**changed: Any) -> dict[str, Any]:
    told = {"sub": "alice", "iat": NOW_S - 10, "exp": NOW_S + 300} | changed
    return {name: value for name, value in told.items() if value is not None}


def signed(key: Key, algorithm: str, **header: str) -> str:
    return jwt.encode({"alg": algorithm, **header}, claims(), key, algorithms=[algorithm])


def part(content: object) -> str:
    return urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


def unsecured(**changed: Any) -> str:
    return f"{part({'alg': 'none'})}.{part(claims(**changed))}."


@pytest.mark.parametrize(("key", "algorithm"), [(RSA, "RS256"), (RSA, "PS384"), (EC, "ES256")])
def test_good_signatures(key: Key, algorithm: str) -> None:
    provider = Provider(key_set(RSA, EC))
    assert provider.keys.claims(signed(key, algorithm, kid=str(key.kid))) == claims()
    assert provider.keys.claims(signed(key, algorithm)) == claims()
    assert provider.fetched == 1


def confused() -> str:
    """Signed with the provider's public key, as if that were a shared secret."""
    content = f"{part({'alg': 'HS256', 'kid': 'rsa'})}.{part(claims())}"
    signature = hmac.digest(RSA.as_pem(private=False), content.encode(), "sha256")
    return f"{content}.{urlsafe_b64encode(signature).rstrip(b'=').decode()}"


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (unsecured(), "'none', which is not accepted"),
        (confused(), "'HS256', which is not accepted"),
        (signed(STRANGER, "RS256", kid="rsa"), "signature is wrong"),
        (signed(STRANGER, "RS256"), "signature is wrong"),
        (signed(RSA, "RS256", kid="rsa")[:-8] + "AAAAAAAA", "signature is wrong"),
        (signed(RSA, "RS256", kid="other"), "has no key 'other'"),
        (f"{part({'alg': 'RS256', 'kid': ['x']})}.{part({})}.AA", "has no key"),
        ("a.b", "three parts"),
        ("....", "three parts"),
        ("*.*.*", "not base64 of JSON"),
        (f"{part([])}.{part({})}.", "must be JSON objects"),
    ],
)
def test_bad_signatures(token: str, reason: str) -> None:
    with pytest.raises(TokenRefused, match=reason):
        Provider(key_set(RSA, EC)).keys.claims(token)


def test_keys_are_fetched_again() -> None:
    provider = Provider(key_set(RSA))
    new = signed(EC, "ES256", kid="ec")
    provider.keys.claims(signed(RSA, "RS256", kid="rsa"))
    provider.document = key_set(EC)
    with pytest.raises(TokenRefused):
        provider.keys.claims(new)
    assert provider.fetched == 1, "an unknown key is looked for only now and then"
    provider.now_ms = 10_000
    assert provider.keys.claims(new) == claims()
    provider.document = OSError("unreachable")
    provider.now_ms = 80_000
    for _ in range(2):
        assert provider.keys.claims(new) == claims(), "the keys that are known stay in use"
    assert provider.fetched == 3
    provider.now_ms += 10_000
    provider.keys.claims(new)
    assert provider.fetched == 4, "a failed fetch is tried again sooner"


class SlowProvider(Provider):
    """It answers when it is allowed to."""

    def __init__(self, document: bytes) -> None:
        super().__init__(document)
        self.is_asked, self.may_answer = threading.Event(), threading.Event()
        self.may_answer.set()

    def fetch(self, url: str) -> bytes:
        self.is_asked.set()
        assert self.may_answer.wait(60)
        return super().fetch(url)


def test_a_slow_provider_keeps_nobody_waiting_whose_key_is_known() -> None:
    provider = SlowProvider(key_set(RSA))
    token = signed(RSA, "RS256", kid="rsa")
    provider.keys.claims(token)
    provider.is_asked.clear()
    provider.may_answer.clear()
    provider.now_ms = 60_000
    waiting = threading.Thread(target=lambda: provider.keys.claims(token), daemon=True)
    waiting.start()
    assert provider.is_asked.wait(60)
    assert provider.keys.claims(token) == claims()
    provider.may_answer.set()
    waiting.join(60)
    assert provider.fetched == 2


@pytest.mark.parametrize(
    "document", [OSError("unreachable"), b"", b"[]", b'{"keys":[]}', b'{"keys":[{"kty":"oct","k":"AA"},7]}']
)
def test_without_keys_nobody_logs_in(document: bytes | OSError) -> None:
    provider = Provider(b"")
    provider.document = document
    with pytest.raises(TokenRefused, match="could not be read"):
        provider.keys.claims(signed(RSA, "RS256", kid="rsa"))


RULES = TokenRules(
    issuer="https://i",
    audiences=frozenset({"kafka", "moldau"}),
    required_scopes=frozenset({"write"}),
    clock_skew_ms=30_000,
)
GOOD = {"iss": "https://i", "aud": ["x", "kafka"], "scope": "read write"}


def test_a_good_token() -> None:
    assert login_of_claims(claims(**GOOD), RULES, NOW_S * 1000) == Login("alice", (NOW_S + 300) * 1000)
    in_skew = claims(**GOOD, exp=NOW_S - 29, iat=NOW_S - 29, nbf=NOW_S - 29)
    assert login_of_claims(in_skew, RULES, NOW_S * 1000).user == "alice"
    named = RULES._replace(user_claim="email", scope_claim="scp")
    told = claims(**GOOD, email="a@b", scp=["write"])
    assert login_of_claims(told, named, NOW_S * 1000).user == "a@b"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"exp": NOW_S - 31, "iat": None}, "expired 31 s ago"),
        ({"exp": None}, "has no expiry"),
        ({"exp": "soon"}, "exp is not a time"),
        ({"exp": True}, "exp is not a time"),
        ({"exp": float("inf")}, "exp is not a time"),
        ({"nbf": NOW_S + 31}, "not valid before 31 s from now"),
        ({"iat": NOW_S + 31}, "not valid before"),
        ({"nbf": NOW_S + 20, "exp": NOW_S + 10}, "expires before it is valid"),
        ({"iss": "https://other"}, "issued by 'https://other'"),
        ({"iss": None}, "issued by 'None'"),
        ({"aud": "somebody"}, "is for 'somebody'"),
        ({"aud": None}, "is for 'None'"),
        ({"scope": "read"}, "lacks the scope write"),
        ({"scope": None}, "lacks the scope write"),
        ({"sub": None}, "names no user"),
        ({"sub": " "}, "names no user"),
        ({"sub": 7}, "names no user"),
    ],
)
def test_bad_tokens(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(TokenRefused, match=reason):
        login_of_claims(claims(**{**GOOD, **changed}), RULES, NOW_S * 1000)


def test_an_audience_that_nobody_expects() -> None:
    with pytest.raises(TokenRefused, match="names no audience"):
        login_of_claims(claims(aud="kafka"), TokenRules(), NOW_S * 1000)
    assert login_of_claims(claims(), TokenRules(), NOW_S * 1000).user == "alice"


def test_unsecured_tokens() -> None:
    assert unsecured_claims(unsecured()) == claims()
    for token in (signed(RSA, "RS256"), unsecured() + "AA"):
        with pytest.raises(TokenRefused, match="unsecured tokens only"):
            unsecured_claims(token)


def exchange() -> OAuthBearerExchange:
    def check(token: str) -> Login:
        return login_of_claims(unsecured_claims(token), TokenRules(), NOW_S * 1000)

    return OAuthBearerExchange(check, is_slow=False)


def test_the_exchange() -> None:
    for form in ("n,,\x01auth=Bearer {}\x01\x01", "n,a=alice,\x01auth=bearer  {}\x01traceId=7\x01\x01"):
        talk = exchange()
        assert talk.answer(form.format(unsecured()).encode()) == b""
        assert talk.login == Login("alice", (NOW_S + 300) * 1000)


def test_a_refused_token_is_explained_in_json() -> None:
    talk = exchange()
    message = f"n,,\x01auth=Bearer {unsecured(exp=NOW_S - 1, iat=None)}\x01\x01".encode()
    assert talk.answer(message) == b'{"status":"invalid_token"}'
    assert talk.problem == "the token expired 1 s ago"
    for again in (b"\x01", f"n,,\x01auth=Bearer {unsecured()}\x01\x01".encode()):
        with pytest.raises(LoginRefused, match="expired") as refusal:
            talk.answer(again)
        assert refusal.value.told == '{"status":"invalid_token"}'
    assert talk.login is None


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\x01",
        b"n,,\x01\x01",
        b"y,,\x01auth=Bearer a.b.c\x01\x01",
        b"n,,\x01auth=Basic a.b.c\x01\x01",
        b"n,,\x01auth=Bearer a.b.c\x01",
        b"n,,\x01auth=Bearer \x01\x01",
        b"\xff",
    ],
)
def test_malformed_messages(message: bytes) -> None:
    with pytest.raises(LoginRefused):
        exchange().answer(message)


def test_nobody_acts_as_another_user() -> None:
    with pytest.raises(LoginRefused, match="act as 'bob'"):
        exchange().answer(f"n,a=bob,\x01auth=Bearer {unsecured()}\x01\x01".encode())


def checks(properties: dict[str, str], jaas: str = "") -> tuple[Any, bool]:
    settings = BrokerLayers(static=properties).settings()
    made = TokenChecks(lambda url: key_set(RSA), lambda: NOW_S * 1000, lambda: 0)
    return made.check_for(settings, "X", parse_jaas(jaas, "jaas") if jaas else None)


def test_settings_of_a_listener() -> None:
    prefix = "listener.name.x.oauthbearer.sasl.oauthbearer."
    module = 'OAuthBearerLoginModule required requiredScope="write";'
    check, is_slow = checks({prefix + "jwks.endpoint.url": URL}, module)
    assert is_slow
    with pytest.raises(TokenRefused, match="scope"):
        check(signed(RSA, "RS256"))
    check, _ = checks({"sasl.oauthbearer.jwks.endpoint.url": URL})
    assert check(signed(RSA, "RS256")).user == "alice"
    asked = 'OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="admin";'
    check, is_slow = checks({}, asked)
    assert not is_slow
    assert check(unsecured()).user == "alice"
    check, _ = checks({"sasl.oauthbearer.jwks.endpoint.url": URL}, asked)
    with pytest.raises(TokenRefused, match="not accepted"):
        check(unsecured())


@pytest.mark.parametrize("properties", [{}, {"sasl.oauthbearer.jwks.endpoint.url": "provider.example"}])
def test_a_listener_must_say_how_tokens_are_checked(properties: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="unsecuredLoginStringClaim_sub"):
        checks(properties)
