"""Forwards writes to the primary.

When the primary is gone, a write waits for the election of another. A write is forwarded once: if the receiver is not
the primary either, its answer goes back to the first instance.
"""

import http.client
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from moldau.core.errors import ConfigError
from moldau.registry.failures import RegistryFailure, forwarding_failed, primary_unknown
from moldau.registry.log.records import PrimaryFact
from moldau.registry.service import Registry

FORWARDED_HEADER: Final = "X-Forward"
PASSED_HEADERS: Final = ("accept", "content-type", "authorization", "confluent-accept-unknown-properties")
REPEATABLE_METHODS: Final = frozenset({"POST", "PUT"})
"""Registering or setting twice has the effect of once; deleting has not."""
RETRY_S: Final = 0.25
NOT_PRIMARY_CODE: Final = b'"error_code":50004'
Tls = Callable[[], ssl.SSLContext] | None
"""Makes the context of connections to instances with https; None where this one has none."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Forwarded:
    status: int
    content_type: str
    body: bytes


def forward(registry: Registry, tls: Tls, request: Outgoing) -> Forwarded | None:
    """Returns the primary's answer. None: this instance has become the primary and must answer itself."""
    deadline = time.monotonic() + registry.settings.leader_read_timeout_ms / 1000
    tried: PrimaryFact | None = None
    failure = primary_unknown(
        "Leader not known: no instance of this registry has been elected as primary yet. Try again in a moment."
    )
    while (left := deadline - time.monotonic()) > 0:
        # When no other instance is elected, the one that failed may be back, or still taking over.
        primary = registry.wait_for_primary(tried, left if tried is None else min(left, RETRY_S)) or tried
        if primary is None or primary.url is None:
            break
        if primary.url == registry.url:
            return None
        tried = primary
        try:
            answer = _send(primary.url, tls, request, left)
        except (ssl.SSLCertVerificationError, ConfigError) as error:
            raise forwarding_failed(
                f"The primary at {primary.url} cannot be trusted: {error}. Set ssl.truststore.location to the "
                "certificate of its authority, and host.name of the primary to a name in its certificate."
            ) from error
        except ConnectionRefusedError as error:
            failure = forwarding_failed(f"The primary at {primary.url} cannot be reached: {error}.")
        except (OSError, http.client.HTTPException) as error:
            failure = forwarding_failed(f"The primary at {primary.url} has not answered: {error}.")
            if request.method not in REPEATABLE_METHODS:
                raise failure from error
        else:
            if answer.status != 500 or NOT_PRIMARY_CODE not in answer.body:
                return answer
    raise failure


def refuse_second_forward() -> RegistryFailure:
    return primary_unknown("Leader not known: this instance is not the primary.")


def _send(url: str, tls: Tls, request: Outgoing, timeout_s: float) -> Forwarded:
    parts = urlsplit(url)
    host = parts.hostname or "localhost"
    if parts.scheme == "https":
        context = ssl.create_default_context() if tls is None else tls()
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            host, parts.port, timeout=timeout_s, context=context
        )
    else:
        connection = http.client.HTTPConnection(host, parts.port, timeout=timeout_s)
    try:
        headers = {name: value for name, value in request.headers.items() if name in PASSED_HEADERS}
        connection.request(
            request.method, request.target, request.body, {**headers, FORWARDED_HEADER: "true"}
        )
        response = connection.getresponse()
        return Forwarded(response.status, response.getheader("Content-Type", ""), response.read())
    finally:
        connection.close()
