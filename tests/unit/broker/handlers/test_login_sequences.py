"""Whatever a client sends in whatever order: it is served only after a login, as the user it has proved to be."""

from collections.abc import Iterator

import pytest
from admin_rig import Rig
from hypothesis import given, settings
from hypothesis import strategies as st
from test_connection_login import RENEWED, Talk, made

from moldau.core.errors import PeerError
from moldau.protocol import codec
from moldau.protocol.headers import RequestHeader, encode_request_header
from moldau.protocol.messages.cluster.api_versions import ApiVersionsRequest
from moldau.protocol.messages.cluster.describe_cluster import DescribeClusterRequest
from moldau.protocol.messages.security.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest
from moldau.protocol.spec import Request
from moldau.security.access.model import ANONYMOUS

ALICE, BOB, WRONG = b"\0alice\0secret", b"\0bob\0word", b"\0alice\0guess"
MESSAGES = [ALICE, BOB, WRONG, b"n,,n=al/ice,r=abc", b"c=biws,r=abc,p=AAAA", b"", b"\x01", b"\0\0\0"]
USERS = {ALICE: "User:alice", BOB: "User:bob"}


def framed(request: Request, version: int) -> bytes:
    header = encode_request_header(RequestHeader(request.API_KEY, version, 1, "me"))
    return header + codec.encode(request, version)


DESCRIBE = framed(DescribeClusterRequest(), 1)
HELLO = framed(ApiVersionsRequest(client_software_name="e2e", client_software_version="1"), 3)
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "GSSAPI", ""]
HANDSHAKES = [
    framed(SaslHandshakeRequest(mechanism=each), version) for each in MECHANISMS for version in (0, 1)
]
WRAPPED = {framed(SaslAuthenticateRequest(auth_bytes=each), 2): each for each in MESSAGES}
FRAMES = [DESCRIBE, HELLO, *HANDSHAKES, *WRAPPED, *MESSAGES]
STEPS = st.lists(st.one_of(st.sampled_from(FRAMES), st.integers(1, 6000)), max_size=12)


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    rig = made(RENEWED)
    yield rig
    rig.store.close()


@settings(max_examples=300)
@given(steps=STEPS)
def test_any_sequence(rig: Rig, steps: list[bytes | int]) -> None:
    talk = Talk(rig)
    proved = {ANONYMOUS}
    for step in steps:
        if isinstance(step, int):
            rig.clock.advance(step)
        elif not take(talk, step, proved):
            break
        assert talk.principal in proved
        if talk.connection.closed_because is not None:
            break
    if talk.connection.closed_because is None:
        talk.session.closed()
    rig.clock.advance(60_000)
    assert rig.clock.pending == 0, "nothing is left behind"


def take(talk: Talk, frame: bytes, proved: set[str]) -> bool:
    """False when the connection ends."""
    before = talk.principal
    user = USERS.get(WRAPPED.get(frame, frame))
    if user is not None and before in (ANONYMOUS, user):
        proved.add(user)
    try:
        answer = talk.session.on_frame(memoryview(frame))
    except PeerError:
        return False
    if frame == DESCRIBE and answer is not None:
        assert before != ANONYMOUS, "served before a login"
    if before != ANONYMOUS:
        assert talk.principal == before, "a login cannot become that of another user"
    return answer is not None or bool(talk.connection.replies) or talk.connection.closed_because is None
