"""Statements about connectors: requests to the Connect cluster of `ksql.connect.url`, with the server's login there.
That the caller has the right on the connector is checked before. Blocks: call it in a thread."""

import http.client
import ssl
from typing import Any, Final
from urllib.parse import quote

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.server.connect_client import ConnectClient
from moldau.pipeline.sql.server.requests import ConnectAnswer
from moldau.pipeline.sql.server.statement_rights import may_list_connector
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree import statements as tree
from moldau.pipeline.sql.syntax.tree.statements import Statement
from moldau.services.security.access import Access

CONFLICT: Final = 409
NOT_FOUND: Final = 404
TLS_HINT: Final = (
    "Set ksql.connect.ssl.truststore.location to a file with its authority, and ksql.connect.ssl.keystore.location "
    "where it asks for a certificate."
)


class Connectors:
    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def execute(self, statement: Statement, access: Access) -> ConnectAnswer:
        """A list has the connectors that the caller may read.

        Raises SqlError where the cluster rejects the request, does not answer, or is not configured."""
        match statement:
            case tree.CreateConnector():
                return self._create(statement)
            case tree.DropConnector(name=name, if_exists=if_exists):
                return self._drop(name, statement, if_exists=if_exists)
            case tree.Describe(name=name):
                return self._describe(name, statement)
            case tree.Show(what="CONNECTOR PLUGINS"):
                return ConnectAnswer("PLUGINS", "", *self._expect(statement, "GET", "/connector-plugins"))
            case tree.Show():
                status, found = self._expect(statement, "GET", "/connectors?expand=info&expand=status")
                return ConnectAnswer("LIST", "", status, _listed(found, statement.connectors, access))
        raise AssertionError(f"{type(statement).__name__} is not about connectors")

    def _create(self, statement: tree.CreateConnector) -> ConnectAnswer:
        config = {one.name: _text(one.value.value) for one in statement.properties}
        body = {"name": statement.name, "config": config}
        status, found = self._ask(statement, "POST", "/connectors", body)
        if status == CONFLICT and statement.if_not_exists:
            return ConnectAnswer("CREATE", statement.name, status, found)
        return ConnectAnswer("CREATE", statement.name, *_accepted(statement, status, found))

    def _drop(self, name: str, statement: Statement, *, if_exists: bool) -> ConnectAnswer:
        status, found = self._ask(statement, "DELETE", f"/connectors/{quote(name, safe='')}")
        if status == NOT_FOUND and if_exists:
            return ConnectAnswer("DROP", name, status, found)
        return ConnectAnswer("DROP", name, *_accepted(statement, status, found))

    def _describe(self, name: str, statement: Statement) -> ConnectAnswer:
        path = f"/connectors/{quote(name, safe='')}"
        status, info = self._expect(statement, "GET", path)
        _, state = self._expect(statement, "GET", f"{path}/status")
        asked, topics = self._ask(statement, "GET", f"{path}/topics")
        used = topics.get(name, {}).get("topics", []) if asked < 400 and isinstance(topics, dict) else []
        return ConnectAnswer("DESCRIBE", name, status, info, state, tuple(used))

    def _expect(self, statement: Statement, method: str, path: str) -> tuple[int, Any]:
        return _accepted(statement, *self._ask(statement, method, path))

    def _ask(self, statement: Statement, method: str, path: str, body: object = None) -> tuple[int, Any]:
        if self._client.url is None:
            raise SqlError(
                "this server knows no Connect cluster",
                statement.at,
                hint="Set ksql.connect.url and restart it.",
            )
        try:
            return self._client.ask(method, path, body)
        except ConfigError as error:
            raise SqlError(f"the Connect cluster cannot be asked: {error}", statement.at) from None
        except (OSError, http.client.HTTPException) as error:
            raise SqlError(
                f"the Connect cluster at {self._client.url} does not answer: {error}",
                statement.at,
                hint=TLS_HINT
                if isinstance(error, ssl.SSLError)
                else "Start it, or correct ksql.connect.url.",
            ) from None


def _accepted(statement: Statement, status: int, found: Any) -> tuple[int, Any]:
    if status < 400:
        return status, found
    reason = found.get("message") if isinstance(found, dict) else found
    raise SqlError(f"the Connect cluster rejects the statement: {reason or f'status {status}'}", statement.at)


def _listed(found: Any, kind: str, access: Access) -> Any:
    """Those that the caller may read; SOURCE or SINK connectors only, where the statement names one of them."""
    if not isinstance(found, dict):
        return found
    return {
        name: one
        for name, one in found.items()
        if may_list_connector(access, name) and (not kind or str(one["info"].get("type", "")).upper() == kind)
    }


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
