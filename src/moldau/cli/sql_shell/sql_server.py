"""The client of a SQL server's REST API: answers as the server gives them, or a `Failure`."""

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

import click
import httpx2

from moldau.cli.client.https import credentials_of, tls_hint, trusted
from moldau.cli.failures import Failure
from moldau.cli.sql_shell import values

JSON_TYPE: Final = "application/vnd.ksql.v1+json"
ROWS_TYPE: Final = "application/vnd.ksqlapi.delimited.v1"
UNAUTHORIZED: Final = 401
CONNECT_TIMEOUT_S: Final = 5.0
ANSWER_TIMEOUT_S: Final = 600.0
"""A statement that waits for earlier ones may take long on a busy server."""

Json = dict[str, Any]


class Login(NamedTuple):
    user: str | None = None
    password: str | None = None
    token: str | None = None

    def headers(self) -> dict[str, str]:
        if self.token is not None:
            return {"Authorization": f"Bearer {self.token}"}
        if self.user is not None:
            pair = base64.b64encode(f"{self.user}:{self.password or ''}".encode()).decode()
            return {"Authorization": f"Basic {pair}"}
        return {}


class TimedOut(Failure):
    """Nothing came within the time that a query was given."""


class Refused(Failure):
    """The server rejected a request. `entities` are the answers of the statements before the one it rejected."""

    def __init__(self, status: int, answer: Mapping[str, Any]) -> None:
        super().__init__(_message(status, answer))
        self.status = status
        self.answer = dict(answer)
        self.entities: list[Json] = list(answer.get("entities") or ())


def _message(status: int, answer: Mapping[str, Any]) -> str:
    said = answer.get("message")
    return str(said) if said else f"the server answered HTTP {status} without a message."


class Settings(NamedTuple):
    """What a session sends with every statement."""

    properties: Mapping[str, str]
    variables: Mapping[str, str]


class Rows:
    """The answer of a query: what its columns are, then its rows as they come."""

    def __init__(self, header: Mapping[str, Any], lines: Iterator[str]) -> None:
        self.query_id: str | None = header.get("queryId")
        self.names = [str(name) for name in header.get("columnNames") or ()]
        self.types = [str(name) for name in header.get("columnTypes") or ()]
        self.final_message = ""
        self._lines = lines

    def __iter__(self) -> Iterator[list[Any]]:
        for line in self._lines:
            document = _parsed_line(line)
            if isinstance(document, list):
                yield document
            elif isinstance(document, dict):
                self.final_message = str(document.get("finalMessage") or self.final_message)


class SqlServer:
    def __init__(self, url: str, login: Login = Login(), authorities: str | None = None) -> None:
        """`authorities` is a file with those to trust."""
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise click.UsageError(f"'{url}' is not the address of a SQL server: use http://HOST:PORT.")
        found = credentials_of(parts) if login == Login() else None
        if found is not None:
            login = Login(*found)
        self.login = login
        self.url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        self._client = httpx2.Client(
            headers={"Accept": JSON_TYPE, **login.headers()},
            timeout=httpx2.Timeout(ANSWER_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
            trust_env=False,
            verify=trusted(authorities),
        )

    def close(self) -> None:
        self._client.close()

    def info(self) -> Json:
        answer = self._request("GET", "/info")
        if not isinstance(answer, dict) or "KsqlServerInfo" not in answer:
            raise self._not_a_server()
        found: Json = answer["KsqlServerInfo"]
        return found

    def is_valid_property(self, name: str) -> None:
        """Raises Refused if sessions may not set it."""
        self._request("GET", f"/is_valid_property/{quote(name, safe='')}")

    def run(self, text: str, settings: Settings, after: int | None = None) -> list[Json]:
        """The answers of statements. With `after`, the server first waits for the command with this number."""
        body: Json = {
            "ksql": text,
            "streamsProperties": dict(settings.properties),
            "sessionVariables": dict(settings.variables),
        }
        if after is not None:
            body["commandSequenceNumber"] = after
        answer = self._request("POST", "/ksql", body)
        if not isinstance(answer, list):
            raise self._not_a_server()
        return answer

    @contextmanager
    def query(self, text: str, settings: Settings, timeout_s: float | None = None) -> Iterator[Rows]:
        """Runs a query and ends it at the server when the block is left, however that happens."""
        body = {
            "sql": text,
            "properties": dict(settings.properties),
            "sessionVariables": dict(settings.variables),
        }
        with self._stream("/query-stream", body, ROWS_TYPE, timeout_s) as response:
            lines = (line for line in response.iter_lines() if line.strip())
            header = _parsed_line(next(lines, "{}"))
            if not isinstance(header, dict):
                raise self._not_a_server()
            rows = Rows(header, lines)
            try:
                yield rows
            finally:
                # Also after the last row: the server may have no answer to end, and says so. Nobody needs to know.
                self.end_query(rows.query_id)

    @contextmanager
    def print_topic(
        self, text: str, settings: Settings, timeout_s: float | None = None
    ) -> Iterator[Iterator[str]]:
        """The lines of PRINT, which the server formats itself."""
        body = {
            "ksql": text,
            "streamsProperties": dict(settings.properties),
            "sessionVariables": dict(settings.variables),
        }
        with self._stream("/query", body, JSON_TYPE, timeout_s) as response:
            yield (line for line in response.iter_lines() if line.strip())

    def end_query(self, query_id: str | None) -> None:
        if query_id is None:
            return
        try:
            self._client.post(
                f"{self.url}/close-query", json={"queryId": query_id}, timeout=CONNECT_TIMEOUT_S
            )
        except httpx2.HTTPError:
            # The stream itself is closed next, which ends the query too.
            return

    @contextmanager
    def _stream(
        self, path: str, body: Json, accept: str, timeout_s: float | None
    ) -> Iterator[httpx2.Response]:
        timeout = httpx2.Timeout(timeout_s, connect=CONNECT_TIMEOUT_S)
        try:
            with self._client.stream(
                "POST", self.url + path, json=body, headers={"Accept": accept}, timeout=timeout
            ) as response:
                if response.status_code >= 400:
                    response.read()
                    raise self._refusal(response)
                yield response
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error

    def _request(self, method: str, path: str, body: Json | None = None) -> Any:
        try:
            response = self._client.request(method, self.url + path, json=body)
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
        if response.status_code >= 400:
            raise self._refusal(response)
        try:
            return values.parsed(response.text)
        except ValueError:
            raise self._not_a_server() from None

    def _refusal(self, response: httpx2.Response) -> Failure:
        try:
            answer = values.parsed(response.text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            return self._not_a_server(response.status_code)
        if response.status_code == UNAUTHORIZED:
            hint = "Pass --user and --password, or --token; or name a file with logins: NETRC=FILE moldau ..."
            return Failure(f"{self.url} rejects the login: {_message(response.status_code, answer)}", hint)
        return Refused(response.status_code, answer)

    def _unreachable(self, error: httpx2.TransportError) -> Failure:
        if isinstance(error, httpx2.ReadTimeout):
            return TimedOut(f"{self.url} did not answer in time.", "Look at the log of the server.")
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return Failure(
                f"no SQL server answers at {self.url}: {error}.",
                tls_hint(error, self.url)
                or "Start one with `moldau sql server`, or pass the address of another: moldau sql http://HOST:PORT.",
            )
        return Failure(
            f"the connection to {self.url} was lost: {str(error) or type(error).__name__}.",
            tls_hint(error, self.url)
            or "If the server was stopped, start it again and repeat the statement.",
        )

    def _not_a_server(self, status: int | None = None) -> Failure:
        answered = f"it answered HTTP {status} without JSON" if status else "its answer has another shape"
        return Failure(f"{self.url} is not a SQL server: {answered}.", "Check the address and the port.")


def _parsed_line(line: str) -> Any:
    """A line of a query's answer; raises Refused for an error of the server."""
    try:
        document = values.parsed(line)
    except ValueError:
        raise Failure(f"the server sent a line that is not JSON: {line[:200]}") from None
    if isinstance(document, dict) and ("error_code" in document or document.get("status") == "error"):
        raise Refused(200, document)
    return document
