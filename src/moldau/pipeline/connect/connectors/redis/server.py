"""The connection to Redis, and what its errors mean."""

import re
from typing import Final

import redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    NoPermissionError,
    RedisError,
    ResponseError,
    WatchError,
)
from redis.retry import Retry

from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.redis.settings import RedisSettings

_LATER: Final = ("OOM", "READONLY", "LOADING", "MASTERDOWN", "BUSY", "NOREPLICAS", "MISCONF", "TRYAGAIN")
_CLUSTER: Final = ("MOVED", "ASK", "CROSSSLOT", "CLUSTERDOWN")
_LOGIN: Final = ("NOAUTH", "WRONGPASS")
_CUT_OFF: Final = re.compile("reset by peer|closed by server")
_TLS_ADVICE: Final = (
    (
        ("Hostname mismatch", "IP address mismatch"),
        "Name the server in redis.uri as its certificate does, or have one made with this name",
    ),
    (
        ("CERTIFICATE_VERIFY_FAILED",),
        "Its certificate is not trusted: name the file with the certificate of its issuer in redis.cacert",
    ),
    (
        ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"),
        "This port is not for TLS: write redis.uri as redis://..., or name the port for TLS",
    ),
    (
        ("CERTIFICATE_REQUIRED", "HANDSHAKE_FAILURE"),
        "The server wants a certificate: name files in redis.key.cert and redis.key.file",
    ),
    (
        ("UNKNOWN_CA", "BAD_CERTIFICATE", "CERTIFICATE_UNKNOWN", "CERTIFICATE_EXPIRED"),
        "The server does not accept the certificate in redis.key.cert: it must be valid, and of an issuer it trusts",
    ),
    (("NO_CERTIFICATE_OR_CRL_FOUND",), "The file in redis.cacert has no certificate in PEM"),
    (
        ("KEY_VALUES_MISMATCH",),
        "The key in redis.key.file does not belong to the certificate in redis.key.cert",
    ),
    (
        ("BAD_DECRYPT", "bad password", "[SSL] PEM lib"),
        "redis.key.cert and redis.key.file are to be PEM, and redis.key.password the password of the key",
    ),
)
"""What to do, by what OpenSSL says. The first that fits."""


class BadCommand(ConnectError):
    """The server does not accept this command for this record; others may be fine."""


def client_of(settings: RedisSettings) -> "redis.Redis":
    """It connects when it is used. What fails is repeated by the worker, not here."""
    return redis.Redis.from_url(
        settings.uri,
        username=settings.user or None,
        password=settings.password or None,
        socket_timeout=settings.timeout_s,
        socket_connect_timeout=settings.timeout_s,
        retry=Retry(NoBackoff(), 0),
        client_name=None,
        protocol=2,
        **settings.tls,
    )


def is_lost_connection(error: WatchError) -> bool:
    """The client raises the same error when another writer was faster, and when the connection has ended."""
    return isinstance(error.__context__, RedisError)


def _tls_advice(text: str) -> str:
    """Empty: TLS has not failed."""
    return next((advice for parts, advice in _TLS_ADVICE if any(part in text for part in parts)), "")


def failure_of(error: RedisError, server: str, *, is_tls: bool = False) -> ConnectError:
    if isinstance(error, WatchError) and isinstance(error.__context__, RedisError):
        return failure_of(error.__context__, server, is_tls=is_tls)
    text = str(error).strip()
    # Some errors have lost their first word, which is in the class then.
    code = text.partition(" ")[0]
    name = type(error).__name__
    if isinstance(error, AuthenticationError | AuthorizationError) or code in _LOGIN:
        return ConnectError(
            f"{server} does not let the connector in: {text}. Check redis.username and redis.password"
        )
    if isinstance(error, NoPermissionError) or code == "NOPERM":
        return ConnectError(
            f"{server} does not let the user do this: {text}. Give it the right by ACL SETUSER"
        )
    if advice := _tls_advice(text):
        return ConnectError(f"{server} and the connector do not agree on TLS: {text.rstrip('.')}. {advice}")
    if code in _CLUSTER or name.startswith(("Moved", "Ask", "Cluster")):
        return ConnectError(
            f"{server} is part of a Redis Cluster: {text}. The connector writes to single servers, and to proxies of "
            "clusters"
        )
    if "unknown command" in text.lower() and "JSON.SET" in text:
        return ConnectError(
            f"{server} has no JSON: {text}. Use Redis 8 or the module RedisJSON, or set redis.type=STRING for JSON as "
            "text"
        )
    if isinstance(error, redis.ConnectionError | redis.TimeoutError):
        hint = ". A port for TLS needs redis.uri=rediss://..." if _CUT_OFF.search(text) and not is_tls else ""
        return RetriableError(f"{server} cannot be reached: {text.rstrip('.')}{hint}")
    if code in _LATER or name in ("OutOfMemoryError", "ReadOnlyError", "BusyLoadingError", "MasterDownError"):
        return RetriableError(f"{server} cannot write now: {text}")
    if isinstance(error, ResponseError):
        return BadCommand(f"{server} refuses the record: {text}")
    return ConnectError(f"{server}: {text}")
