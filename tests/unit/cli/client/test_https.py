"""What clients of HTTP services say when TLS fails, and where they find a login."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from moldau.cli.client.https import credentials_of
from moldau.cli.client.registry_http import RegistryHttp
from moldau.cli.failures import Failure
from moldau.cli.sql_shell.sql_server import SqlServer
from moldau.security.certificates.certificate_folder import CertificateFolder

HOST = "127.0.0.1"
PATIENCE_S = 60


class Server(HTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Handshakes that fail are what the tests are about."""


@contextmanager
def serving(
    context: ssl.SSLContext | None, handler: type[BaseHTTPRequestHandler] = BaseHTTPRequestHandler
) -> Iterator[str]:
    """The address without its scheme."""
    with Server((HOST, 0), handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield f"{HOST}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> CertificateFolder:
    found = CertificateFolder(tmp_path_factory.mktemp("certs"))
    found.create("for tests")
    found.issue("here", [HOST])
    found.issue("elsewhere", ["elsewhere.example"])
    return found


def context_of(certificates: CertificateFolder, name: str, *, asks: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.store(name))
    if asks:
        context.load_verify_locations(certificates.trust)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def hints_of(url: str) -> set[str | None]:
    """Of each client."""
    found = set()
    for ask in (
        lambda: RegistryHttp(url, PATIENCE_S).get("subjects", doing="list the subjects"),
        lambda: SqlServer(url).info(),
    ):
        with pytest.raises(Failure) as failure:
            ask()
        found.add(failure.value.hint)
    return found


def test_hints(certificates: CertificateFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(context_of(certificates, "here")) as address:
        (hint,) = hints_of(f"https://{address}")
        assert "SSL_CERT_FILE=trust.pem" in str(hint)
        (hint,) = hints_of(f"http://{address}")
        assert "use https:// instead" in str(hint)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.trust))
    with serving(context_of(certificates, "elsewhere")) as address:
        (hint,) = hints_of(f"https://{address}")
        assert "not for this name" in str(hint)
    with serving(context_of(certificates, "here", asks=True)) as address:
        # The alert, or the end of the connection, whichever comes first.
        assert all("certificate of yours" in str(hint) for hint in hints_of(f"https://{address}"))
    with serving(None) as address:
        (hint,) = hints_of(f"https://{address}")
        assert "does not speak TLS here" in str(hint)


def test_a_login_that_is_missing_and_rights_that_are() -> None:
    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status = 401 if "Authorization" not in self.headers else 403
            body = b'{"error_code": %d, "message": "no"}' % status
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing to the terminal."""

    with serving(None, Refusing) as address:
        assert all("NETRC=FILE moldau" in str(hint) for hint in hints_of(f"http://{address}"))
        assert hints_of(f"http://alice:secret@{address}") == {None}


def test_the_login_of_the_address_or_of_netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "netrc"
    file.write_text("machine localhost login admin password s3cret\n")
    monkeypatch.setenv("NETRC", str(file))
    assert credentials_of(urlsplit("https://localhost:8081")) == ("admin", "s3cret")
    assert credentials_of(urlsplit("https://alice:wonder%40land@localhost")) == ("alice", "wonder@land")
    assert credentials_of(urlsplit("https://elsewhere")) is None
    monkeypatch.delenv("NETRC")
    assert credentials_of(urlsplit("https://localhost:8081")) is None
