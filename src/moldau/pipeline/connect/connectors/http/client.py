"""Makes requests: with who is asking, and failures as those of connectors. Owns the connections and the token."""

import re
import time
from collections.abc import Mapping
from typing import Any, Final

import requests

from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.http.settings import Access, without_login

BODY_SHOWN: Final = 300
_QUERY_IN_TEXT: Final = re.compile(r"\?[^\s'\")>]+")
REDIRECTION: Final = 300
BAD_REQUEST: Final = 400
SERVER_ERROR: Final = 500
TOKEN_SPARE_S: Final = 30.0
"""A token is renewed so long before it ends."""
TOKEN_S: Final = 300.0
"""How long a token is used that does not say when it ends."""
PAUSE_S_MAX: Final = 60.0
"""More of Retry-After is not waited at once: a task must be able to stop."""


class Refused(Exception):
    """The service does not want this request. Repeating it would not help."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


class Busy(RetriableError):
    """The service asks for the request to be made again later."""

    def __init__(self, text: str, after_s: float) -> None:
        super().__init__(text)
        self.after_s = after_s


class HttpClient:
    def __init__(self, access: Access) -> None:
        self._access = access
        session = self._session = requests.Session()
        session.headers.update(access.headers)
        # Nothing of the environment: neither a proxy nor a password from ~/.netrc.
        session.trust_env = False
        if access.proxy:
            session.proxies = {"http": access.proxy, "https": access.proxy}
        session.verify = False if access.trusts_all else (access.ca or True)
        if access.certificate:
            session.cert = access.certificate
        if access.authorization == "static":
            session.headers["Authorization"] = access.header
        elif access.authorization == "basic":
            # Requests writes Latin-1, and services read UTF-8.
            user, password = (one.encode().decode("latin-1") for one in (access.user, access.password))
            session.auth = (user, password)
        self._token_until = 0.0

    def close(self) -> None:
        self._session.close()

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        params: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """The answer to a request that was accepted. Raises RetriableError, Busy, Refused, or ConnectError."""
        self._renew_token()
        answer = self._answer(method, url, headers=dict(headers), data=body, params=params)
        if answer.status_code == requests.codes.unauthorized and self._access.authorization == "oauth2":
            # The token may have been taken back.
            self._token_until = 0.0
            self._renew_token()
            answer = self._answer(method, url, headers=dict(headers), data=body, params=params)
        status = answer.status_code
        if status < REDIRECTION:
            return answer
        text = f"{method} {shown(url)} was answered with {status} {answer.reason}: {_shown_body(answer)}"
        if any(status in one for one in self._access.retried):
            raise Busy(f"{text}. It is tried again", _retry_after_s(answer))
        if status in (requests.codes.unauthorized, requests.codes.forbidden):
            raise ConnectError(f"{text}. Check http.authorization.type and what belongs to it")
        if status < BAD_REQUEST:
            raise ConnectError(_redirect_text(f"{method} {shown(url)}", answer, self._access.url_setting))
        raise Refused(text, status)

    def _answer(self, method: str, url: str, **more: Any) -> requests.Response:
        access = self._access
        try:
            # A redirect would lose the body, or show the token to another host.
            return self._session.request(
                method, url, timeout=access.timeout_s, allow_redirects=method == "GET", **more
            )
        except (requests.exceptions.SSLError, requests.exceptions.InvalidURL) as failure:
            raise ConnectError(
                f"{method} {shown(url)} failed: {_text_of(failure)}. Check {access.url_setting} and {access.ca_setting}"
            ) from failure
        except requests.RequestException as failure:
            raise RetriableError(
                f"{method} {shown(url)} failed: {_text_of(failure)}. It is tried again"
            ) from failure
        except OSError as failure:
            # A file that the settings name.
            raise ConnectError(
                f"{method} {shown(url)} failed: {failure}. Check {access.ca_setting} and the client's certificate"
            ) from failure

    def _renew_token(self) -> None:
        access = self._access
        if access.authorization != "oauth2" or time.monotonic() < self._token_until:
            return
        self._session.headers.pop("Authorization", None)
        form = {"grant_type": "client_credentials"}
        if access.scope:
            form["scope"] = access.scope
        auth = None
        if access.is_client_in_form:
            form |= {"client_id": access.client_id, "client_secret": access.client_secret}
        else:
            auth = (access.client_id, access.client_secret)
        answer = self._answer("POST", access.token_url, data=form, auth=auth)
        if answer.status_code >= SERVER_ERROR:
            raise RetriableError(
                f"{shown(access.token_url)} gave no token: {answer.status_code} {answer.reason}. It is tried again"
            )
        try:
            found = answer.json()
            token = found["access_token"]
            lasts_s = float(found.get("expires_in") or TOKEN_S)
        except (ValueError, KeyError, TypeError):
            raise ConnectError(
                f"{shown(access.token_url)} gave no token, but {answer.status_code} {answer.reason}: "
                f"{_shown_body(answer)}. Check oauth2.client.id, oauth2.client.secret and oauth2.client.scope"
            ) from None
        self._session.headers["Authorization"] = f"Bearer {token}"
        self._token_until = time.monotonic() + max(1.0, lasts_s - TOKEN_SPARE_S)


def shown(url: str) -> str:
    """Without its query, which may have a key, and without a login."""
    return without_login(url.partition("?")[0])


def _text_of(failure: Exception) -> str:
    """It has the address of the request."""
    return _QUERY_IN_TEXT.sub("?[hidden]", without_login(str(failure)))


def _redirect_text(asked: str, answer: requests.Response, setting: str) -> str:
    """It concerns the address, not the record: nothing was done, and nothing would be with the next one."""
    to = answer.headers.get("Location")
    if not to:
        return f"{asked} was answered with {answer.status_code} {answer.reason}, which is no success: check {setting}"
    return (
        f"{asked} was answered with {answer.status_code} {answer.reason}, a redirect to {shown(to)}, which is not "
        f"followed: set {setting} to the address the service wants"
    )


def _shown_body(answer: requests.Response) -> str:
    text = " ".join(answer.text[: BODY_SHOWN + 1].split())
    return f"{text[:BODY_SHOWN]}..." if len(text) > BODY_SHOWN else text or "no text"


def _retry_after_s(answer: requests.Response) -> float:
    text = answer.headers.get("Retry-After", "")
    return min(PAUSE_S_MAX, float(text)) if text.isdigit() else 0.0
