"""The client's side of a login, against the examples of the RFCs."""

import pytest

from moldau.cli.client.sasl import login, plain, scram
from moldau.core.errors import PeerError


def test_plain() -> None:
    exchange = plain("tim", "tanstaaftanstaaf")
    assert next(exchange) == b"\0tim\0tanstaaftanstaaf"
    with pytest.raises(StopIteration):
        exchange.send(b"")


SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"


def test_scram_sha_256_is_rfc_7677s() -> None:
    exchange = scram("sha256", "user", "pencil", "rOprNGfwEbeRWgbNEkqO")
    assert next(exchange) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert exchange.send(SERVER_FIRST) == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
        b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    with pytest.raises(StopIteration):
        exchange.send(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


def test_a_broker_that_does_not_know_the_password_is_found_out() -> None:
    exchange = scram("sha256", "user", "pencil", "rOprNGfwEbeRWgbNEkqO")
    next(exchange)
    exchange.send(SERVER_FIRST)
    with pytest.raises(PeerError, match="prove"):
        exchange.send(b"v=AAAA")


@pytest.mark.parametrize(
    "challenge", [b"", b"r=rOpr,s=QQ==,i=x", b"r=other,s=QQ==,i=1", b"r=rOpr,s=QQ==,i=99999999"]
)
def test_a_challenge_that_makes_no_sense(challenge: bytes) -> None:
    exchange = scram("sha256", "user", "pencil", "rOpr")
    next(exchange)
    with pytest.raises(PeerError):
        exchange.send(challenge)


def test_names_are_escaped_and_nonces_differ() -> None:
    first, second = (next(login("SCRAM-SHA-512", "a=b,c", "x")) for _ in range(2))
    assert first.startswith(b"n,,n=a=3Db=2Cc,r=")
    assert first != second
