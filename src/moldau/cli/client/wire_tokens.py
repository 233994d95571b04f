"""The token with which our own connections log in by OAUTHBEARER, configured with librdkafka's properties."""

import ssl
import time
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError

import click

from moldau.cli.client.https import trusted
from moldau.cli.failures import Failure
from moldau.security.sasl.token_sources import client_credentials_request, token_of_answer, unsecured_token

TIMEOUT_S: Final = 10.0
ANSWER_BYTES_MAX: Final = 1 << 20
METHOD: Final = "sasl.oauthbearer.method"
URL: Final = "sasl.oauthbearer.token.endpoint.url"
ID_NAMES: Final = ("sasl.oauthbearer.client.id", "sasl.oauthbearer.client.credentials.client.id")
SECRET_NAMES: Final = ("sasl.oauthbearer.client.secret", "sasl.oauthbearer.client.credentials.client.secret")
UNSECURED: Final = "enable.sasl.oauthbearer.unsecure.jwt"
UNSECURED_CLAIMS: Final = "sasl.oauthbearer.config"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The secret of a client is not sent elsewhere."""

    def redirect_request(self, *arguments: object) -> None:
        return None


def bearer_token(properties: Mapping[str, str]) -> str:
    """A new token. Failure if there is none to be had."""
    if properties.get(METHOD, "default").lower() == "oidc":
        return _token_of_provider(properties)
    if properties.get(UNSECURED, "false").lower() == "true":
        return _unsecured(properties.get(UNSECURED_CLAIMS, ""))
    raise click.UsageError(
        f"sasl.mechanism=OAUTHBEARER needs {METHOD}=oidc with {URL}, {ID_NAMES[0]} and {SECRET_NAMES[0]}; in tests, "
        f"{UNSECURED}=true with {UNSECURED_CLAIMS}=principal=NAME."
    )


def _token_of_provider(properties: Mapping[str, str]) -> str:
    url = properties.get(URL, "")
    client_id, secret = (
        next((properties[name] for name in names if name in properties), None)
        for names in (ID_NAMES, SECRET_NAMES)
    )
    if not url.startswith(("https://", "http://")) or client_id is None or secret is None:
        raise click.UsageError(f"{METHOD}=oidc needs {URL}=https://..., {ID_NAMES[0]} and {SECRET_NAMES[0]}.")
    headers, body = client_credentials_request(
        client_id, secret, properties.get("sasl.oauthbearer.scope", "")
    )
    request = urllib.request.Request(url, body, dict(headers))  # noqa: S310 The person who calls sets the URL.
    try:
        authorities = properties.get("https.ca.location")
        context = ssl.create_default_context(cafile=authorities) if authorities else trusted()
        opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _NoRedirects)
        with opener.open(request, timeout=TIMEOUT_S) as answer:
            return token_of_answer(answer.read(ANSWER_BYTES_MAX), url)
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()
        raise Failure(
            f"cannot get a token from {url}: {error}.",
            "Check the sasl.oauthbearer.* properties, and the provider.",
        ) from error


def _unsecured(claims: str) -> str:
    """Of claims in librdkafka's form: `principal=alice scope=read,write lifeSeconds=60`."""
    given = dict(pair.partition("=")[::2] for pair in claims.split())
    user_claim = given.get("principalClaimName", "sub")
    options = {
        "unsecuredLoginPrincipalClaimName": user_claim,
        "unsecuredLoginLifetimeSeconds": given.get("lifeSeconds", ""),
    }
    if "principal" in given:
        options[f"unsecuredLoginStringClaim_{user_claim}"] = given["principal"]
    if "scope" in given:
        options[f"unsecuredLoginListClaim_{given.get('scopeClaimName', 'scope')}"] = f",{given['scope']}"
    try:
        return unsecured_token(options, int(time.time() * 1000))
    except ValueError as error:
        raise click.UsageError(
            f"{UNSECURED_CLAIMS} needs principal=NAME, and lifeSeconds is a number."
        ) from error
