"""What the tests of hostile clients share: a broker under attack, and how it must bear it."""

from pathlib import Path

from compat.moldau_broker import MoldauBroker
from e2e.wire import HungUp, WireClient, framed, request_bytes
from moldau.protocol.messages.cluster.api_versions import ApiVersionsRequest

WORST_WAIT_S = 1.0
"""How long a well-behaved client may be kept waiting, on a machine that runs other tests at the same time."""
API_VERSIONS = request_bytes(
    ApiVersionsRequest(client_software_name="e2e", client_software_version="1"), 3, correlation_id=0x5EED
)
BUG_SIGNS = ("Traceback", "internal error", "Exception in callback")


class Attacked:
    """A broker, and the part of its log that is not accounted for yet."""

    def __init__(self, folder: Path, settings: dict[str, str] | None = None) -> None:
        self.broker = MoldauBroker(folder, settings)
        self._read_up_to = 0

    @property
    def port(self) -> int:
        return self.broker.port

    @property
    def pid(self) -> int:
        return self.broker.pid

    def connect(self) -> WireClient:
        return WireClient(self.port)

    def new_lines(self) -> list[str]:
        """What it has logged since the last call."""
        with self.broker.log_path.open("rb") as log:
            log.seek(self._read_up_to)
            text = log.read()
        self._read_up_to += len(text)
        return text.decode(errors="replace").splitlines()

    def the_line_about(self, client: WireClient) -> str:
        """The one line that says why the client was closed."""
        lines = self.lines_about(client)
        assert len(lines) == 1, f"{len(lines)} lines about one closed connection: {lines}"
        return lines[0]

    def lines_about(self, client: WireClient) -> list[str]:
        lines = self.new_lines()
        assert not any(sign in line for line in lines for sign in BUG_SIGNS), "\n".join(lines)
        return [line for line in lines if f"127.0.0.1:{client.local_port} " in line]

    def bear(self, data: bytes) -> None:
        """Sends what is no request and says goodbye: the broker hangs up and logs one line that says why."""
        with self.connect() as client:
            client.try_to_send(data)
            client.end_sending()
            assert client.is_closed_by_broker(), data
            self.the_line_about(client)

    def bear_request(self, request: bytes) -> bool:
        """Sends one frame and a good request after it: both are answered, or the broker hangs up with one line that
        says why. Whether it was answered."""
        with self.connect() as client:
            client.try_to_send(framed(request) + framed(API_VERSIONS))
            try:
                client.receive_frame()
                is_answered = True
                assert client.receive_frame()[:4] == API_VERSIONS[4:8], request
            except HungUp:
                is_answered = False
            except TimeoutError:
                raise AssertionError(f"neither answered nor closed: {request!r}") from None
            lines = self.lines_about(client)
            assert len(lines) == (0 if is_answered else 1), f"{request!r} was logged as {lines}"
        return is_answered
