"""A client of any Connect cluster with Kafka Connect's REST API, the options that name one, and shell completion."""

import http.client
import os
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import quote, urlsplit

import click
import orjson

from moldau.cli.client.https import login_hint, login_of, open_connection, tls_hint
from moldau.cli.failures import Failure, similar_names
from moldau.cli.options import COMPLETION_TIMEOUT_S, timeout_option

DEFAULT_URL = "http://localhost:8083"
CONNECT_VARIABLE = "MOLDAU_CONNECT"
NOT_FOUND = 404


class Refused(Failure):
    """The worker rejected a request."""

    def __init__(self, status: int, words: str, doing: str) -> None:
        super().__init__(f"cannot {doing}: {words}", login_hint(status))
        self.status = status
        self.words = words


class ConnectHttp:
    def __init__(self, url: str, timeout_s: float) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise click.UsageError(f"'{url}' is not an address of a Connect worker: use http://HOST:PORT.")
        self.url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        self._parts = parts
        self._timeout_s = timeout_s

    def ask(self, method: str, path: str, *, doing: str, body: object = None) -> Any:
        """`doing` completes "cannot ...": "list the connectors"."""
        status, content = self._exchange(method, path, None if body is None else orjson.dumps(body))
        try:
            answer = orjson.loads(content) if content else None
        except orjson.JSONDecodeError:
            raise Failure(
                f"the server at {self.url} is not a Connect worker: it answered HTTP {status} without JSON.",
                "Check the address given with --connect.",
            ) from None
        if status >= 400:
            words = answer.get("message") if isinstance(answer, dict) else None
            raise Refused(status, str(words or http.client.responses.get(status, f"HTTP {status}")), doing)
        return answer

    def of(self, name: str, method: str, rest: str = "", *, doing: str, body: object = None) -> Any:
        """A request about one connector. Names similar ones if there is none of this name."""
        try:
            return self.ask(method, f"/connectors/{quote(name, safe='')}{rest}", doing=doing, body=body)
        except Refused as refused:
            known = self.names() if refused.status == NOT_FOUND else [name]
            if name in known:
                raise
            similar = " or ".join(f"'{each}'" for each in similar_names(name, known))
            hint = f"Did you mean {similar}?" if similar else "`moldau connect list` lists all connectors."
            raise Failure(f"there is no connector '{name}' at {self.url}.", hint) from None

    def names(self) -> list[str]:
        found: list[str] = self.ask("GET", "/connectors", doing="list the connectors")
        return found

    def _exchange(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        headers = {"Accept": "application/json", **login_of(self._parts)}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection = open_connection(self._parts, self._timeout_s)
        try:
            connection.request(method, f"{self._parts.path.rstrip('/')}{path}", body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise Failure(
                f"no Connect worker answers at {self.url}: {error}.",
                tls_hint(error, self.url)
                or "Start one with `moldau connect worker`, or pass another address with --connect.",
            ) from error
        finally:
            connection.close()


def on_connect(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of a Connect cluster. The command receives a `ConnectHttp` as its first argument."""

    @click.option(
        "--connect",
        "connect_url",
        metavar="URL",
        envvar=CONNECT_VARIABLE,
        show_envvar=True,
        default=DEFAULT_URL,
        show_default=True,
        help="A worker of the Connect cluster.",
    )
    @timeout_option(150)
    @wraps(function)
    def run(connect_url: str, timeout_s: float, **arguments: Any) -> Any:
        return function(ConnectHttp(connect_url, timeout_s), **arguments)

    return run


def complete_connector(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Names for shell completion. Empty without a worker: completion must not print errors."""
    url = ctx.params.get("connect_url") or os.environ.get(CONNECT_VARIABLE) or DEFAULT_URL
    try:
        return [
            name for name in ConnectHttp(url, COMPLETION_TIMEOUT_S).names() if name.startswith(incomplete)
        ]
    except (Failure, click.UsageError):
        return []


connector_argument = click.argument("name", shell_complete=complete_connector)
connectors_argument = click.argument(
    "names", metavar="NAME...", nargs=-1, required=True, shell_complete=complete_connector
)
