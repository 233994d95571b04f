"""The exchanges of PLAIN and SCRAM: the vectors of the RFCs, and what is refused."""

from base64 import b64decode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.core.errors import ConfigError, PeerError
from moldau.security.credentials.scram_credential import (
    MECHANISMS,
    ScramMechanism,
    credential_of_password,
    credential_text,
    parse_credential,
)
from moldau.security.sasl.client_login import client_login, plain_login, scram_login
from moldau.security.sasl.exchange import Exchange, Login, LoginRefused
from moldau.security.sasl.jaas import check_module, client_credentials, parse_jaas
from moldau.security.sasl.plain import PlainExchange, check_against
from moldau.security.sasl.scram import Known, ScramExchange

SHA_1 = ScramMechanism("SCRAM-SHA-1", 0, "sha1")
SHA_256 = MECHANISMS["SCRAM-SHA-256"]
SHA_512 = MECHANISMS["SCRAM-SHA-512"]
NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20)


def server(
    mechanism: ScramMechanism, user: str, password: str, salt: bytes, nonce: str, iterations: int = 4096
) -> ScramExchange:
    credential = credential_of_password(mechanism, password, salt, iterations)
    known = {user: Known(credential, Login(user))}
    return ScramExchange(mechanism, lambda name, is_token: None if is_token else known.get(name), nonce)


def converse(exchange: Exchange, user: str, password: str, mechanism: str) -> None:
    login = client_login(mechanism, user, password)
    message = next(login)
    with pytest.raises(StopIteration):
        while True:
            message = login.send(exchange.answer(message))


def test_vectors_of_rfc_7677() -> None:
    salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    exchange = server(SHA_256, "user", "pencil", salt, "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
    first = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert exchange.answer(first) == (
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    )
    final = (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
        b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    assert exchange.answer(final) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert exchange.login == Login("user")


def test_vectors_of_rfc_5802() -> None:
    salt = b64decode("QSXCR+Q6sek8bf92")
    exchange = server(SHA_1, "user", "pencil", salt, "3rfcNHYJY1ZVvWVs7j")
    exchange.answer(b"n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL")
    final = b"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts="
    assert exchange.answer(final) == b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ="


def test_the_client_of_rfc_7677() -> None:
    login = scram_login(SHA_256, "user", "pencil", "rOprNGfwEbeRWgbNEkqO")
    assert next(login) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    challenge = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    assert login.send(challenge).endswith(b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    with pytest.raises(StopIteration):
        login.send(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize(
    "challenge",
    [
        b"r=abcdef,s=AAAA,i=4095",
        b"r=abcdef,s=AAAA,i=999999999",
        b"r=abc,s=AAAA,i=4096",
        b"r=xyz,s=AAAA,i=4096",
        b"e=other-error",
        b"\xff\xfe",
        b"r=abcdef,s=*,i=4096",
    ],
)
def test_the_client_refuses_a_bad_challenge(challenge: bytes) -> None:
    login = scram_login(SHA_256, "user", "pencil", "abc")
    next(login)
    with pytest.raises(PeerError):
        login.send(challenge)


def test_the_client_refuses_a_server_that_does_not_know_the_password() -> None:
    login = scram_login(SHA_256, "user", "pencil", "abc")
    next(login)
    login.send(b"r=abcdef,s=AAAA,i=4096")
    with pytest.raises(PeerError, match="could not prove"):
        login.send(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@settings(max_examples=15)
@given(
    user=NAMES,
    password=NAMES,
    salt=st.binary(min_size=1, max_size=32),
    mechanism=st.sampled_from([SHA_256, SHA_512]),
)
def test_client_and_server_agree(user: str, password: str, salt: bytes, mechanism: ScramMechanism) -> None:
    exchange = server(mechanism, user, password, salt, "s3rv3r")
    converse(exchange, user, password, mechanism.name)
    assert exchange.login == Login(user)


@settings(max_examples=15)
@given(password=NAMES, other=NAMES)
def test_another_password_is_refused(password: str, other: str) -> None:
    exchange = server(SHA_256, "user", password, b"salt", "s3rv3r")
    if password == other:
        return
    login = client_login(SHA_256.name, "user", other)
    final = login.send(exchange.answer(next(login)))
    with pytest.raises(LoginRefused):
        exchange.answer(final)
    assert exchange.login is None


@settings(max_examples=60)
@given(noise=st.binary(max_size=200))
def test_noise_is_refused(noise: bytes) -> None:
    for exchange in (
        server(SHA_256, "user", "pencil", b"salt", "s3rv3r"),
        PlainExchange(check_against({"user": "pencil"})),
    ):
        with pytest.raises(LoginRefused):
            exchange.answer(noise)
        assert exchange.login is None


@pytest.mark.parametrize(
    "first",
    [
        b"y,,n=user,r=abc",  # The client believes that we do not support channel binding.
        b"p=tls-unique,,n=user,r=abc",
        b"n,,n=us=er,r=abc",
        b"n,,n=user,r=",
        b"n,,n=nobody,r=abc",
        b"n,a=root,n=user,r=abc",
        b"n,,n=user,r=abc,tokenauth=true",
    ],
)
def test_first_messages_that_are_refused(first: bytes) -> None:
    with pytest.raises(LoginRefused):
        server(SHA_256, "user", "pencil", b"salt", "s3rv3r").answer(first)


def test_names_are_escaped_and_nonces_differ() -> None:
    first, second = (next(client_login("SCRAM-SHA-512", "a=b,c", "x")) for _ in range(2))
    assert first.startswith(b"n,,n=a=3Db=2Cc,r=")
    assert first != second


def test_a_recorded_login_is_useless() -> None:
    recorded = []
    exchange = server(SHA_256, "user", "pencil", b"salt", "one")
    login = client_login(SHA_256.name, "user", "pencil")
    recorded.append(next(login))
    recorded.append(login.send(exchange.answer(recorded[0])))
    exchange.answer(recorded[1])
    again = server(SHA_256, "user", "pencil", b"salt", "two")
    again.answer(recorded[0])
    with pytest.raises(LoginRefused, match="another exchange"):
        again.answer(recorded[1])
    with pytest.raises(LoginRefused, match="after the end"):
        exchange.answer(recorded[1])


def test_a_changed_header_is_refused() -> None:
    exchange = server(SHA_256, "user", "pencil", b"salt", "one")
    exchange.answer(b"n,a=user,n=user,r=abc")
    with pytest.raises(LoginRefused, match="another exchange"):
        exchange.answer(b"c=biws,r=abcone,p=AAAA")


def test_a_weak_credential_is_refused() -> None:
    exchange = server(SHA_256, "user", "pencil", b"salt", "one", iterations=100)
    with pytest.raises(LoginRefused, match="100 iterations"):
        exchange.answer(b"n,,n=user,r=abc")


def test_plain() -> None:
    check = check_against({"alice": "secret", "void": ""})
    for message, user in ((b"\0alice\0secret", "alice"), (b"alice\0alice\0secret", "alice")):
        exchange = PlainExchange(check)
        assert exchange.answer(message) == b""
        assert exchange.login == Login(user)
    refused = (
        b"\0alice\0wrong",
        b"\0bob\0secret",
        b"root\0alice\0secret",
        b"\0void\0",
        b"\0\0x",
        b"alice",
        b"\0a\0b\0c",
    )
    for message in (*refused, b"\xff\0a\0b"):
        exchange = PlainExchange(check)
        with pytest.raises(LoginRefused) as refusal:
            exchange.answer(message)
        assert exchange.login is None
        assert "secret" not in str(refusal.value)
    assert list(plain_login("alice", "secret")) == [b"\0alice\0secret"]


def test_credentials_have_kafkas_text_form() -> None:
    credential = credential_of_password(SHA_256, "pencil", b64decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096)
    text = credential_text(credential)
    assert text == (
        "salt=W22ZaJ0SNY7soEsUEjb6gQ==,stored_key=WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=,"
        "server_key=wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=,iterations=4096"
    )
    assert parse_credential(text) == credential
    assert "WG5d" not in repr(credential)
    for wrong in ("", "salt=x", text.replace("salt=", "salt=*"), text.replace("4096", "many")):
        assert parse_credential(wrong) is None


def test_jaas() -> None:
    text = """org.apache.kafka.common.security.plain.PlainLoginModule required // a comment
        username="admin" password='ad"min; \\' x' user_admin="a=b;c" /* more */ user_al-ice=secret serviceName="";"""
    module = parse_jaas(text, "sasl.jaas.config")
    assert module.passwords == {"admin": "a=b;c", "al-ice": "secret"}
    assert client_credentials(module, "s") == ("admin", "ad\"min; ' x")
    assert "secret" not in repr(module)
    check_module(module, "PLAIN", "s")
    with pytest.raises(ConfigError, match="ScramLoginModule"):
        check_module(module, "SCRAM-SHA-256", "s")
    with pytest.raises(ConfigError, match="username and no password"):
        client_credentials(parse_jaas("A required;", "s"), "s")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "A required",
        "A always;",
        'A required x="secret;',
        "A required x;",
        "A required; B required;",
        "A required = = =;",
    ],
)
def test_malformed_jaas(text: str) -> None:
    with pytest.raises(ConfigError, match=r"listener.x is not a login module") as refusal:
        parse_jaas(text, "listener.x")
    assert "secret" not in str(refusal.value)


def test_an_unsupported_mechanism_names_the_supported_ones() -> None:
    with pytest.raises(ConfigError, match="SCRAM-SHA-512"):
        client_login("GSSAPI", "a", "b")
