"""DIGEST-MD5 as RFC 2831 has it, and the rights of new nodes as Kafka sets them."""

import pytest

from moldau.coordination.digest_md5 import digest_md5_login
from moldau.coordination.zookeeper_protection import node_acl
from moldau.core.errors import PeerError
from moldau.security.sasl.client_login import ClientLogin

CHALLENGE = b'realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",algorithm=md5-sess,charset=utf-8'


def login() -> ClientLogin:
    """The example of section 4."""
    begun = digest_md5_login("chris", "secret", "OA6MHXh6VqTrRk", uri="imap/elwood.innosoft.com")
    assert next(begun) == b""
    return begun


def test_the_example_of_the_rfc() -> None:
    begun = login()
    assert b"response=d388dad90d4bbd760a152321f2143af7," in begun.send(CHALLENGE)
    with pytest.raises(StopIteration):
        begun.send(b"rspauth=ea40f60335c427b5527b84dbabcdfffd")


def test_a_server_that_does_not_know_the_password() -> None:
    begun = login()
    begun.send(CHALLENGE)
    with pytest.raises(PeerError, match="did not prove"):
        begun.send(b"rspauth=00000000000000000000000000000000")


@pytest.mark.parametrize(
    ("challenge", "complaint"),
    [
        (b"", "offers no login"),
        (b'realm="x"', "malformed"),
        (b'nonce="x', "malformed"),
        (b"\xff", "not UTF-8"),
        (b'nonce="x",algorithm=md5', "malformed"),
        (b'nonce="x",qop="auth-int,auth-conf"', "use TLS"),
    ],
)
def test_a_challenge_that_makes_no_sense(challenge: bytes, complaint: str) -> None:
    with pytest.raises(PeerError, match=complaint):
        login().send(challenge)


def test_quotes_in_names_are_escaped() -> None:
    begun = digest_md5_login('a"b\\c', "secret", "n")
    next(begun)
    assert rb'username="a\"b\\c"' in begun.send(b'nonce="x"')


@pytest.mark.parametrize(
    ("path", "is_own", "schemes"),
    [
        ("/brokers/topics/t", False, {"world": 31}),
        ("/brokers/topics/t", True, {"auth": 31, "world": 1}),
        ("/config/users", True, {"auth": 31}),
        ("/config/users/franz", True, {"auth": 31}),
        ("/config/brokers/<default>", True, {"auth": 31}),
        ("/delegation_token/tokens/x", True, {"auth": 31}),
        ("/config/users-of-old", True, {"auth": 31, "world": 1}),
    ],
)
def test_rights_of_a_new_node(path: str, is_own: bool, schemes: dict[str, int]) -> None:
    assert {acl.id.scheme: acl.perms for acl in node_acl(path, is_own=is_own)} == schemes
