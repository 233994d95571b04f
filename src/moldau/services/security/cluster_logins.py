"""Logins with the name and the password of a user of the Kafka cluster, or with an API key: the cluster is asked.

A password is right if a client of Kafka can log in with it. So users, passwords and keys are kept in one place, and
the service never sees how they are stored.
"""

import time
from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from moldau.core.errors import ConfigError
from moldau.security.credentials.api_key import parse_api_key
from moldau.security.sasl.exchange import PLAIN, SCRAM_SHA_256, SCRAM_SHA_512, LoginRefused, shown
from moldau.services.security.basic import credentials
from moldau.services.security.checked_logins import Caller, LoginsUnavailable, WrongLogin

MECHANISMS: Final = (PLAIN, SCRAM_SHA_256, SCRAM_SHA_512)
LOGIN_S_MAX: Final = 10.0
TURN_S: Final = 0.05
MS_PER_S: Final = 1000


class ClusterLogins:
    """Checks passwords at the cluster. Called on several threads."""

    def __init__(self, values: Mapping[str, Any], client: Mapping[str, Any] | None) -> None:
        """`values` are those of `HttpSecurity.security`, `client` the settings of the service's own clients of Kafka,
        under librdkafka's names. Raises ConfigError."""
        if client is None:
            raise ConfigError("authentication.users=CLUSTER: this service has no cluster; use FILE")
        own = client.get("sasl.mechanism") or client.get("sasl.mechanisms")
        mechanism = values["authentication.sasl.mechanism"] or own
        protocol = str(client.get("security.protocol", "PLAINTEXT")).upper()
        if not protocol.startswith("SASL_"):
            raise ConfigError(
                "authentication.users=CLUSTER needs a listener of the cluster with logins, and the service's own "
                f"clients of Kafka have security.protocol {protocol}: set it to SASL_SSL, and bootstrap.servers to "
                "that listener"
            )
        if mechanism not in MECHANISMS:
            raise ConfigError(
                f"authentication.users=CLUSTER: the service logs in with {mechanism}, which takes no password; set "
                f"authentication.sasl.mechanism to {', '.join(MECHANISMS[:-1])} or {MECHANISMS[-1]}"
            )
        self._client = {
            **{name: text for name, text in client.items() if not name.startswith(("sasl.", "group."))},
            "sasl.mechanism": mechanism,
            "client.id": "moldau-login",
            "log_level": "0",
            "reconnect.backoff.ms": "1000",
        }

    def caller(self, text: bytes) -> Caller:
        """`text` is that of Basic authentication. Raises WrongLogin or LoginsUnavailable. Blocks."""
        found = credentials(text)
        if found is None or not all(found) or "\0" in "".join(found):
            raise WrongLogin("the login is not a name and a password")
        name, password = found
        key = parse_api_key(name)
        try:
            login = None if key is None else key.login(int(time.time() * MS_PER_S))
        except LoginRefused as refused:
            raise WrongLogin(str(refused)) from None
        self._log_in(name, password)
        if login is None:
            return Caller(f"User:{name}")
        ends_s = None if login.expires_ms is None else login.expires_ms / MS_PER_S
        return Caller(f"User:{login.user}", ends_s)

    def _log_in(self, name: str, password: str) -> None:
        refused: list[KafkaError] = []

        def on_error(error: KafkaError) -> None:
            if error.code() == KafkaError._AUTHENTICATION:
                refused.append(error)

        properties = {
            **self._client,
            "sasl.username": name,
            "sasl.password": password,
            "error_cb": on_error,
        }
        admin: AdminClient | None = None
        try:
            admin = AdminClient(properties)
            answer = admin.describe_cluster(request_timeout=LOGIN_S_MAX)
            while not answer.done() and not refused:
                admin.poll(TURN_S)
            failure = None if refused else answer.exception()
        except KafkaException as error:
            failure = error
        finally:
            # The client ends with the last reference to it. An exception keeps this frame, and the client would log in
            # again and again until garbage is looked for.
            del admin
        if refused:
            reason = " ".join(refused[0].str().split())
            raise WrongLogin(f"the cluster refuses the login of user {shown(name)}: {reason}")
        if failure is not None:
            why = failure.args[0].str() if isinstance(failure, KafkaException) else str(failure)
            raise LoginsUnavailable(
                f"The Kafka cluster, which knows the passwords, cannot be asked: {why}. Try again in a moment."
            )
