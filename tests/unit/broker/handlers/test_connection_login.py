"""The states of a connection's login: what is served before it, how it ends, how it is renewed."""

import struct
from collections.abc import Iterator
from typing import Any

import pytest
from admin_rig import Connection, Rig, make_rig

from moldau.broker.request.client_session import ClientSession
from moldau.coordination import tree_layout as layout
from moldau.coordination.sqlite import SqliteStore
from moldau.coordination.tree_setup import create_folders
from moldau.core.chunks import Chunk
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ConfigError, PeerError
from moldau.core.settings.listeners import SecurityProtocol
from moldau.core.settings.resolve import BrokerLayers
from moldau.protocol import codec
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from moldau.protocol.messages.cluster.api_versions import ApiVersionsRequest
from moldau.protocol.messages.cluster.describe_cluster import DescribeClusterRequest
from moldau.protocol.messages.security.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest
from moldau.protocol.messages.topics.metadata import MetadataRequest
from moldau.protocol.spec import Request
from moldau.security.credentials.scram_credential import MECHANISMS, credential_of_password, credential_text
from moldau.security.sasl.client_login import client_login

DELAY_MS = 100
PROPERTIES = """
listeners=SASL_PLAINTEXT://:9092
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl_plaintext.plain.sasl.jaas.config=PlainLoginModule required user_alice="secret" user_bob="word";
"""
RENEWED = PROPERTIES + "connections.max.reauth.ms=5000"
HELLO = ApiVersionsRequest(client_software_name="e2e", client_software_version="1")


class SaslConnection(Connection):
    """Remembers what the session did with it."""

    listener = "SASL_PLAINTEXT"
    protocol = SecurityProtocol.SASL_PLAINTEXT

    def __init__(self) -> None:
        self.session: ClientSession
        self.frame_bytes_max = 0
        self.replies: list[list[Chunk]] = []
        self.closed_because: str | None = None

    def limit_frames(self, bytes_max: int, setting: str) -> None:
        self.frame_bytes_max = bytes_max

    def reply(self, chunks: list[Chunk]) -> None:
        if self.closed_because is None:
            self.replies.append(chunks)

    def abort(self, reason: str) -> None:
        self.closed_because = reason
        self.session.closed()


class Talk:
    """A client on a SASL listener."""

    def __init__(self, rig: Rig, connection: SaslConnection | None = None) -> None:
        self.rig = rig
        self.connection = connection or SaslConnection()
        self.session = self.connection.session = ClientSession(rig.broker, self.connection)

    def send(self, request: Request, version: int) -> Any:
        """The answer that came at once; None if none did."""
        header = encode_request_header(RequestHeader(request.API_KEY, version, 7, "me"))
        chunks = self.session.on_frame(memoryview(header + codec.encode(request, version)))
        return None if chunks is None else decoded(request, version, chunks)

    def late_answer(self, request: Request, version: int) -> Any:
        """The answer that came when the delay of failed logins was over."""
        assert self.connection.replies == []
        self.rig.clock.advance(DELAY_MS - 1)
        assert self.connection.replies == []
        self.rig.clock.advance(1)
        (chunks,) = self.connection.replies
        return decoded(request, version, chunks)

    def log_in(self, user: str, password: str, mechanism: str = "PLAIN", version: int = 2) -> Any:
        """The last answer."""
        assert self.send(SaslHandshakeRequest(mechanism=mechanism), 1).error_code == ErrorCode.NONE
        login = client_login(mechanism, user, password)
        answer, message = None, next(login)
        while message is not None:
            answer = self.send(SaslAuthenticateRequest(auth_bytes=message), version)
            try:
                message = login.send(bytes(answer.auth_bytes))
            except StopIteration:
                break
        return answer

    @property
    def principal(self) -> str:
        return self.session.client.principal


def decoded(request: Request, version: int, chunks: list[Chunk]) -> Any:
    frame = b"".join(bytes(chunk) for chunk in chunks if not hasattr(chunk, "file"))
    (size,) = struct.unpack_from(">i", frame)
    assert size == len(frame) - 4
    _, position = decode_response_header(request.API_KEY, version, frame, 4)
    return codec.decode(request.RESPONSE, version, frame, position)[0]


def made(properties: str = PROPERTIES) -> Rig:
    store = SqliteStore(":memory:")
    create_folders(store)
    store.create("/config/users")
    settings = {
        name: credential_text(credential_of_password(mechanism, "pencil", b"salt", 4096))
        for name, mechanism in MECHANISMS.items()
    }
    store.create("/config/users/al%2Fice", layout.encode_configs(settings))
    return make_rig(properties, store=store)


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = made()
    yield rig
    rig.store.close()


@pytest.fixture
def talk(rig: Rig) -> Talk:
    return Talk(rig)


@pytest.fixture
def renewed() -> Iterator[Talk]:
    """A client whose login has an end."""
    rig = made(RENEWED)
    yield Talk(rig)
    rig.store.close()


def test_plain(talk: Talk) -> None:
    assert talk.connection.frame_bytes_max == 512 << 10
    assert talk.send(HELLO, 3).error_code == ErrorCode.NONE
    answer = talk.log_in("alice", "secret")
    assert (answer.error_code, answer.session_lifetime_ms) == (ErrorCode.NONE, 0)
    assert talk.principal == "User:alice"
    assert talk.connection.frame_bytes_max == 100 << 20
    assert talk.send(DescribeClusterRequest(), 1).error_code == ErrorCode.NONE


@pytest.mark.parametrize("mechanism", list(MECHANISMS))
def test_scram(talk: Talk, mechanism: str) -> None:
    assert talk.log_in("al/ice", "pencil", mechanism).error_code == ErrorCode.NONE
    assert talk.principal == "User:al/ice"


def test_messages_without_headers(talk: Talk) -> None:
    """After SaslHandshake v0, as Kafka's clients before 1.0 send them."""
    assert talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 0).error_code == ErrorCode.NONE
    assert talk.session.on_frame(memoryview(b"\0alice\0secret")) == [bytes(4)]
    assert talk.principal == "User:alice"
    assert talk.send(DescribeClusterRequest(), 1).error_code == ErrorCode.NONE


def test_a_failure_without_headers_has_no_answer(talk: Talk) -> None:
    talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 0)
    assert talk.session.on_frame(memoryview(b"\0alice\0wrong")) is None
    talk.rig.clock.advance(DELAY_MS)
    assert talk.connection.replies == [[]]
    assert "'alice'" in (talk.connection.closed_because or "")


def test_the_answer_to_a_failed_login_is_delayed(talk: Talk) -> None:
    talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    request = SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong")
    assert talk.send(request, 2) is None
    assert talk.send(HELLO, 3) is None
    answer = talk.late_answer(request, 2)
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert answer.error_message == "Authentication failed: Invalid username or password"
    assert talk.principal == "User:ANONYMOUS"
    assert "login with PLAIN failed" in (talk.connection.closed_because or "")


def test_scram_says_nothing_about_users(talk: Talk) -> None:
    request = SaslAuthenticateRequest(auth_bytes=b"n,,n=nobody,r=abc")
    talk.send(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
    assert talk.send(request, 2) is None
    assert talk.late_answer(request, 2).error_message == (
        "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256"
    )


def test_a_client_that_does_not_wait_for_the_failure_is_logged(
    talk: Talk, caplog: pytest.LogCaptureFixture
) -> None:
    talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    talk.send(SaslAuthenticateRequest(auth_bytes=b"\0al\nice\0wrong"), 2)
    talk.session.closed()
    talk.rig.clock.advance(DELAY_MS)
    assert talk.connection.closed_because is None
    (line,) = caplog.messages
    assert r"'al\nice'" in line
    assert "wrong" not in line


def test_an_unsupported_mechanism_gets_the_list(talk: Talk) -> None:
    request = SaslHandshakeRequest(mechanism="GSSAPI")
    assert talk.send(request, 1) is None
    answer = talk.late_answer(request, 1)
    assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
    assert answer.mechanisms == ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
    assert "'GSSAPI'" in (talk.connection.closed_because or "")


@pytest.mark.parametrize("request_", [MetadataRequest(topics=()), SaslAuthenticateRequest(auth_bytes=b"")])
def test_other_apis_before_the_login_close_the_connection(talk: Talk, request_: Request) -> None:
    with pytest.raises(PeerError, match="before a login"):
        talk.send(request_, request_.VERSIONS.high)


def test_a_second_question_for_versions_closes_the_connection(talk: Talk) -> None:
    assert talk.send(HELLO, 3).error_code == ErrorCode.NONE
    with pytest.raises(PeerError, match="API key 18"):
        talk.send(HELLO, 3)


def test_another_api_in_the_middle_is_an_illegal_state(talk: Talk) -> None:
    talk.send(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
    request = DescribeClusterRequest()
    assert talk.send(request, 1) is None
    assert talk.late_answer(request, 1).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert talk.connection.closed_because is not None


def test_an_api_whose_answer_has_no_error_is_closed(talk: Talk) -> None:
    talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    assert talk.send(MetadataRequest(topics=()), 9) is None
    talk.rig.clock.advance(DELAY_MS)
    assert talk.connection.replies == [[]]
    assert talk.connection.closed_because is not None


def test_noise_is_the_clients_fault(talk: Talk) -> None:
    for noise in (b"", b"\x60\x81", bytes(40), struct.pack(">hhih", 17, 9, 1, -1), b"\xff" * 30):
        with pytest.raises(PeerError):
            Talk(talk.rig).session.on_frame(memoryview(noise))
    talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    with pytest.raises(PeerError):
        talk.session.on_frame(memoryview(b"\0alice\0secret"))


def test_who_never_logs_in_is_cut_off(talk: Talk) -> None:
    talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    talk.rig.clock.advance(60_000)
    assert talk.connection.closed_because == "it did not log in within 60 s"
    happy = Talk(talk.rig)
    happy.log_in("alice", "secret")
    assert talk.rig.clock.pending == 0


def test_a_login_is_renewed() -> None:
    rig = made(RENEWED)
    talk = Talk(rig)
    assert talk.log_in("alice", "secret").session_lifetime_ms == 5000
    rig.clock.advance(4000)
    assert talk.log_in("alice", "secret").session_lifetime_ms == 5000
    # Not twice within a second: then it is a request that nobody expects.
    assert talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 1).error_code == ErrorCode.ILLEGAL_SASL_STATE
    rig.clock.advance(5000)
    assert talk.send(DescribeClusterRequest(), 1).error_code == ErrorCode.NONE
    rig.clock.advance(1)
    with pytest.raises(PeerError, match="'User:alice' has expired"):
        talk.send(DescribeClusterRequest(), 1)
    # A late renewal is accepted: the client may have had nothing to send.
    assert talk.log_in("alice", "secret").session_lifetime_ms == 5000
    rig.store.close()


def test_a_login_without_an_end_is_not_renewed(talk: Talk) -> None:
    talk.log_in("alice", "secret")
    assert talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 1).error_code == ErrorCode.ILLEGAL_SASL_STATE


def test_the_limit_is_that_of_the_mechanism() -> None:
    key = "listener.name.sasl_plaintext.plain.connections.max.reauth.ms"
    rig = made(PROPERTIES + f"connections.max.reauth.ms=5000\n{key}=7000")
    assert Talk(rig).log_in("alice", "secret").session_lifetime_ms == 7000
    assert Talk(rig).log_in("al/ice", "pencil", "SCRAM-SHA-256").session_lifetime_ms == 5000
    rig.store.close()


def test_a_renewed_login_must_be_the_same(renewed: Talk) -> None:
    renewed.log_in("alice", "secret")
    renewed.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    request = SaslAuthenticateRequest(auth_bytes=b"\0bob\0word")
    assert renewed.send(request, 2) is None
    answer = renewed.late_answer(request, 2)
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert answer.error_message == (
        "Cannot change principals during re-authentication from User.alice: User.bob"
    )
    assert renewed.principal == "User:alice"


def test_a_renewed_login_has_the_same_mechanism(renewed: Talk) -> None:
    renewed.log_in("al/ice", "pencil", "SCRAM-SHA-256")
    renewed.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    request = SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret")
    assert renewed.send(request, 2) is None
    assert "is not supported for re-authentication" in renewed.late_answer(request, 2).error_message


def test_other_requests_wait_for_the_renewal(renewed: Talk) -> None:
    renewed.log_in("alice", "secret")
    renewed.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    request = DescribeClusterRequest()
    assert renewed.send(request, 1) is None
    assert renewed.late_answer(request, 1).error_code == ErrorCode.ILLEGAL_SASL_STATE


def test_a_changed_password_holds_at_once(talk: Talk) -> None:
    layers: BrokerLayers = talk.rig.broker.configs.layers
    key = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
    changed = 'PlainLoginModule required user_alice="new";'
    talk.rig.broker.configs.put_broker(layers._replace(dynamic={key: changed}))
    assert Talk(talk.rig).log_in("alice", "new").error_code == ErrorCode.NONE
    talk.rig.broker.configs.put_broker(layers._replace(dynamic={key: "nonsense"}))
    assert Talk(talk.rig).log_in("alice", "new").error_code == ErrorCode.NONE


def test_listeners_without_sasl(rig: Rig) -> None:
    connection = SaslConnection()
    connection.protocol = SecurityProtocol.PLAINTEXT
    talk = Talk(rig, connection)
    assert talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 1).error_code == ErrorCode.ILLEGAL_SASL_STATE
    answer = talk.send(SaslAuthenticateRequest(auth_bytes=b""), 2)
    assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE


@pytest.mark.parametrize(("principal", "expected"), [("User:CN=a", "User:CN=a"), (None, "User:ANONYMOUS")])
def test_a_certificate_says_who_it_is(rig: Rig, principal: str | None, expected: str) -> None:
    connection = SaslConnection()
    connection.protocol = SecurityProtocol.SSL
    talk = Talk(rig, connection)
    connection.tls_principal = principal
    assert talk.send(HELLO, 3).error_code == ErrorCode.NONE
    assert talk.principal == expected


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        (
            "sasl.enabled.mechanisms=PLAIN",
            "has no users; set listener.name.sasl_plaintext.plain.sasl.jaas.config",
        ),
        ("sasl.enabled.mechanisms=SCRAM-SHA-1", "SCRAM-SHA-1, which is not supported"),
        ("sasl.enabled.mechanisms=", "has no SASL mechanism"),
    ],
)
def test_settings_with_which_nobody_could_log_in(properties: str, complaint: str) -> None:
    rig = made(f"listeners=SASL_PLAINTEXT://:9092\n{properties}")
    with pytest.raises(ConfigError, match=complaint):
        rig.broker.logins.on("SASL_PLAINTEXT")
    rig.store.close()


def test_a_change_for_a_misspelt_mechanism_is_refused(rig: Rig) -> None:
    layers: BrokerLayers = rig.broker.configs.layers
    key = "listener.name.sasl_plaintext.scram-sha-265.connections.max.reauth.ms"
    settings = layers._replace(dynamic={key: "5000"}).settings()
    with pytest.raises(
        ConfigError, match=r"scram-sha-265 is not a SASL mechanism; did you mean scram-sha-256\?"
    ):
        rig.broker.logins.check(settings, ["SASL_PLAINTEXT"])
