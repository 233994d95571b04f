"""A registry whose users and roles are those of the cluster: the same at Apache Kafka as at Moldau."""

from collections.abc import Callable

import httpx2

from compat.access.grants import grants
from compat.access.login import PASSWORD
from compat.access.secured import ADMIN
from compat.access.sides import Side
from e2e.cli.shell import Shell
from moldau.testing import LocalRegistry
from roles_kit import WAIT_S, until

USER, OTHER = list(grants())[:2]
LOGIN = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.password": PASSWORD}


def test_users_and_roles_of_the_cluster(sides: tuple[Side, Side]) -> None:
    for side in sides:
        bootstrap = f"127.0.0.1:{side.server.port}"
        client = {**LOGIN, "sasl.username": ADMIN}
        settings = {
            **{f"kafkastore.{name}": text for name, text in client.items()},
            "kafkastore.topic.replication.factor": "1",
            "authentication.method": "BASIC",
            "authentication.users": "CLUSTER",
            "authorization.enabled": "true",
        }
        shell = Shell(bootstrap)
        with (
            LocalRegistry(bootstrap, settings) as registry,
            httpx2.Client(base_url=registry.url, timeout=WAIT_S) as http,
        ):

            def register(user: str, password: str = PASSWORD, http: httpx2.Client = http) -> int:
                path, body = "/subjects/shop-orders/versions", {"schema": '"string"'}
                return http.post(path, json=body, auth=(user, password)).status_code

            def is_granted(register: Callable[[str], int] = register) -> bool:
                return register(USER) == 200

            assert register(USER) == 403
            assert register(USER, "wrong") == 401
            options = [part for name, text in client.items() for part in ("-X", f"{name}={text}")]
            shell.run("roles", "grant", USER, "developer-write", "--subject", "shop-", "--prefixed", *options)
            until(is_granted)
            assert register(OTHER) == 403
