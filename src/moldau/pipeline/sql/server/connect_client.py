"""Requests to the Connect cluster of `ksql.connect.url`: over HTTPS and with a login where the settings say so.

The names of the settings are ksqlDB's. Their files are read with every request, so that changed ones count at once.
Blocks.
"""

import base64
import http.client
import ssl
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from moldau.core.errors import ConfigError
from moldau.core.settings.properties import parse_properties
from moldau.pipeline.sql.server.settings import ServerSettings
from moldau.security.tls.contexts import TlsMaterial, client_context
from moldau.security.tls.stores import key_from_file, trust_from_file

TIMEOUT_S: Final = 30.0
FROM_FILE: Final = "FILE"
PROTOCOLS: Final = ("TLSv1.2", "TLSv1.3")


class ConnectClient:
    def __init__(self, settings: ServerSettings) -> None:
        """Raises ConfigError for files that cannot be used."""
        self._settings = settings
        self.url = settings.connect_url
        if self.url is not None:
            self._login()
            self._context()

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and answer. Raises OSError or HTTPException if there is none, and ConfigError if a file cannot be
        used any more."""
        assert self.url is not None
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        connection = (
            http.client.HTTPSConnection(host, parts.port, timeout=TIMEOUT_S, context=self._context())
            if parts.scheme == "https"
            else http.client.HTTPConnection(host, parts.port, timeout=TIMEOUT_S)
        )
        headers = {"Content-Type": "application/json", "Accept": "application/json", **self._login()}
        try:
            content = None if body is None else orjson.dumps(body)
            connection.request(method, parts.path.rstrip("/") + path, content, headers)
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        try:
            return response.status, orjson.loads(text) if text else None
        except orjson.JSONDecodeError:
            return response.status, text.decode(errors="replace")

    def _login(self) -> dict[str, str]:
        """The header of the login, from the properties `username` and `password` of the file."""
        if self._settings.connect_login_source.upper() != FROM_FILE:
            return {}
        path = self._settings.connect_login_file
        if not path:
            raise ConfigError(
                "ksql.connect.basic.auth.credentials.source=FILE needs ksql.connect.basic.auth.credentials.file"
            )
        name = "ksql.connect.basic.auth.credentials.file"
        try:
            with open(path, encoding="utf-8") as file:
                found = {each.name: each.value for each in parse_properties(file.read(), file=path)}
        except OSError as error:
            raise ConfigError(f"{name}: cannot read {path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{name}: {path} is not UTF-8 text") from None
        if not {"username", "password"} <= found.keys():
            raise ConfigError(f"{name}: {path} needs the lines `username=...` and `password=...`")
        pair = f"{found['username']}:{found['password']}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}

    def _context(self) -> ssl.SSLContext:
        settings = self._settings
        trust = settings.connect_truststore
        key = settings.connect_keystore
        return client_context(
            TlsMaterial(
                key=key_from_file(key, settings.connect_keystore_password, settings.connect_key_password)
                if key
                else None,
                trust=trust_from_file(trust, settings.connect_truststore_password) if trust else None,
                protocols=PROTOCOLS,
                ciphers=(),
            )
        )
