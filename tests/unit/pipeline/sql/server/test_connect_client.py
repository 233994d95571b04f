"""Requests to a Connect cluster that has HTTPS and asks for a login."""

import base64
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.server.connect_client import ConnectClient
from moldau.pipeline.sql.server.settings import ServerSettings
from moldau.security.certificates.certificate_folder import CertificateFolder

HOST = "127.0.0.1"


class Worker(BaseHTTPRequestHandler):
    """Answers with the login it was sent."""

    def do_GET(self) -> None:
        login = (self.headers.get("Authorization") or "").removeprefix("Basic ")
        body = b'"%s %s"' % (self.path.encode(), base64.b64decode(login))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing to the terminal."""


@contextmanager
def serving(context: ssl.SSLContext) -> Iterator[str]:
    with HTTPServer((HOST, 0), Worker) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield f"https://{HOST}:{server.server_port}/connect"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def certificates(tmp_path: Path) -> CertificateFolder:
    found = CertificateFolder(tmp_path / "certs")
    found.create("for Connect")
    found.issue("worker", [HOST])
    found.issue("sql")
    return found


def settings(url: str, **more: str) -> ServerSettings:
    named = {f"ksql.connect.{name.replace('_', '.')}": text for name, text in more.items()}
    return ServerSettings.parse({"ksql.connect.url": url, **named})


def test_https_login_and_certificate(certificates: CertificateFolder, tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.store("worker"))
    context.load_verify_locations(certificates.trust)
    context.verify_mode = ssl.CERT_REQUIRED
    login = tmp_path / "login"
    login.write_text("username=sql\npassword=old\n")
    with serving(context) as url:
        client = ConnectClient(
            settings(
                url,
                ssl_truststore_location=str(certificates.trust),
                ssl_keystore_location=str(certificates.store("sql")),
                basic_auth_credentials_source="FILE",
                basic_auth_credentials_file=str(login),
            )
        )
        assert client.ask("GET", "/connectors") == (200, "/connect/connectors sql:old")
        login.write_text("username=sql\npassword=changed\n")
        assert client.ask("GET", "/connectors") == (200, "/connect/connectors sql:changed")
        with pytest.raises(ssl.SSLCertVerificationError):
            ConnectClient(settings(url)).ask("GET", "/connectors")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"basic_auth_credentials_source": "FILE"}, "needs ksql.connect.basic.auth.credentials.file"),
        (
            {"basic_auth_credentials_source": "FILE", "basic_auth_credentials_file": "/nowhere"},
            "No such file",
        ),
        ({"ssl_truststore_location": "/nowhere"}, "No such file"),
    ],
)
def test_files_that_cannot_be_used(more: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        ConnectClient(settings(f"https://{HOST}:1", **more))


def test_a_login_file_without_a_password(tmp_path: Path) -> None:
    file = tmp_path / "login"
    file.write_text("username=sql\n")
    with pytest.raises(ConfigError, match="password"):
        ConnectClient(
            settings(
                f"https://{HOST}:1",
                basic_auth_credentials_source="FILE",
                basic_auth_credentials_file=str(file),
            )
        )
