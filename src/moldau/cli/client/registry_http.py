"""A client of any schema registry with Confluent's REST API: answers, or a `Failure`."""

import http.client
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import click
import orjson

from moldau.cli.client.https import login_hint, login_of, open_connection, tls_hint
from moldau.cli.failures import Failure

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
PAGE_SIZE = 1_000
SUBJECT_NOT_FOUND = 40401
VERSION_NOT_FOUND = 40402


class Refused(Failure):
    """The registry rejected a request. `clashes` are the incompatibilities of a rejected schema."""

    def __init__(self, status: int, answer: Mapping[str, Any], doing: str) -> None:
        words = str(answer.get("message") or http.client.responses.get(status, "no reason given"))
        self.error_code = int(answer.get("error_code") or status)
        self.clashes: list[dict[str, Any]] = list(answer.get("clashes") or ())
        self.words = words
        super().__init__(f"cannot {doing}: {words} (error {self.error_code})", login_hint(status))


class RegistryHttp:
    def __init__(self, url: str, timeout_s: float) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise click.UsageError(f"'{url}' is not an address of a registry: use http://HOST:PORT.")
        self.url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        self._parts = parts
        self._timeout_s = timeout_s

    def get(self, *path: str | int, doing: str, **query: str | int | bool) -> Any:
        return self.request("GET", path, query, None, doing)

    def post(self, *path: str | int, body: object, doing: str, **query: str | int | bool) -> Any:
        return self.request("POST", path, query, body, doing)

    def put(self, *path: str | int, body: object, doing: str, **query: str | int | bool) -> Any:
        return self.request("PUT", path, query, body, doing)

    def delete(self, *path: str | int, doing: str, **query: str | int | bool) -> Any:
        return self.request("DELETE", path, query, None, doing)

    def all_schemas(self, *, latest_only: bool, deleted: bool = False) -> list[dict[str, Any]]:
        """Reads pages, because Confluent's registry limits an answer to 1000 schemas."""
        found: list[dict[str, Any]] = []
        while True:
            page = self.get(
                "schemas",
                doing="list the schemas",
                subjectPrefix=":*:",
                latestOnly=latest_only,
                deleted=deleted,
                offset=len(found),
                limit=PAGE_SIZE,
            )
            found += page
            if len(page) < PAGE_SIZE:
                return found

    def request(
        self,
        method: str,
        path: tuple[str | int, ...],
        query: Mapping[str, str | int | bool],
        body: object,
        doing: str,
    ) -> Any:
        target = self._parts.path.rstrip("/") + "".join(f"/{quote(str(part), safe='')}" for part in path)
        told = {
            name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()
        }
        if told:
            target = f"{target}?{urlencode(told)}"
        status, content = self._exchange(method, target, None if body is None else orjson.dumps(body))
        if status == 204 or not content:
            return None
        try:
            answer = orjson.loads(content)
        except orjson.JSONDecodeError:
            raise Failure(
                f"the server at {self.url} is not a schema registry: it answered HTTP {status} without JSON.",
                "Check the address given with --registry.",
            ) from None
        if status >= 400:
            raise Refused(status, answer if isinstance(answer, dict) else {}, doing)
        return answer

    def _exchange(self, method: str, target: str, body: bytes | None) -> tuple[int, bytes]:
        headers = {"Accept": CONTENT_TYPE, "Content-Type": CONTENT_TYPE, **login_of(self._parts)}
        connection = open_connection(self._parts, self._timeout_s)
        try:
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise Failure(
                f"no schema registry answers at {self.url}: {error}.",
                tls_hint(error, self.url)
                or "Start one with `moldau registry`, or pass another address with --registry.",
            ) from error
        finally:
            connection.close()
