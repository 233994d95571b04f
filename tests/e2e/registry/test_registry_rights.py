"""Who may do what at a registry whose users are those of the cluster."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from moldau.testing import LocalCluster, LocalRegistry, Security

USERS = {"admin": "admin-secret", "alice": "wonder", "bob": "builder"}
Ask = Callable[..., httpx2.Response]


@pytest.fixture(scope="module")
def secured() -> Iterator[LocalCluster]:
    with LocalCluster(security=Security(protocol="SASL_PLAINTEXT", users=USERS, acls=True)) as cluster:
        yield cluster


def settings_of(cluster: LocalCluster) -> dict[str, str]:
    own = {f"kafkastore.{name}": str(value) for name, value in cluster.client_settings("admin").items()}
    return {
        **own,
        "authentication.method": "BASIC",
        "authentication.users": "CLUSTER",
        "authentication.skip.paths": "/v1/metadata/id",
    }


@pytest.fixture(scope="module")
def ask(secured: LocalCluster) -> Iterator[Ask]:
    with (
        LocalRegistry(secured.bootstrap_servers, settings_of(secured)) as registry,
        httpx2.Client(base_url=registry.url, timeout=60) as client,
    ):

        def ask(user: str, method: str, path: str, body: Any = None) -> httpx2.Response:
            login = user.partition(":")
            return client.request(method, path, json=body, auth=(login[0], login[2] or USERS[user]))

        yield ask


def test_users_of_the_cluster_log_in_with_their_passwords(ask: Ask) -> None:
    assert ask("admin", "GET", "/subjects").status_code == 200
    for login in ("alice:wrong", "nobody:wonder", "alice:builder"):
        refused = ask(login, "GET", "/subjects")
        assert (refused.status_code, refused.json()["message"]) == (401, "Unauthorized")
        assert refused.headers["www-authenticate"].startswith("Basic")
