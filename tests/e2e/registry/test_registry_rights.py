"""Who may do what at a registry whose users are those of the cluster."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError
from joserfc import jwt
from joserfc.jwk import ECKey

from moldau.security.access.model import CLUSTER_NAME, Pattern, ResourceKind
from moldau.security.credentials.api_key import new_key
from moldau.security.roles.model import Binding, Role, ServiceKind, make_binding
from moldau.security.roles.records import make_member
from moldau.testing import LocalCluster, LocalRegistry, Security
from roles_kit import WAIT_S, Roles, until

USERS = {
    "admin": "admin-secret",
    **{name: f"{name}-secret" for name in ("reader", "writer", "manager", "owner", "operator", "nobody")},
}
AVRO = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
Ask = Callable[..., httpx2.Response]


def of_subjects(user: str, role: Role, name: str = "orders-", pattern: Pattern = Pattern.PREFIXED) -> Binding:
    return make_binding(f"User:{user}", role, ServiceKind.SUBJECT, name, pattern)


@pytest.fixture(scope="module")
def secured() -> Iterator[LocalCluster]:
    with LocalCluster(security=Security(protocol="SASL_PLAINTEXT", users=USERS, acls=True)) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def provider_key() -> ECKey:
    return ECKey.generate_key("P-256", {"kid": "one"}, private=True)


@pytest.fixture(scope="module")
def registry(
    secured: LocalCluster, provider_key: ECKey, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LocalRegistry]:
    keys = tmp_path_factory.mktemp("keys") / "keys.json"
    keys.write_text(json.dumps({"keys": [provider_key.as_dict(private=False)]}))
    own = {f"kafkastore.{name}": str(value) for name, value in secured.client_settings("admin").items()}
    settings = {
        **own,
        "authentication.method": "BASIC,BEARER",
        "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        "authentication.users": "CLUSTER",
        "authorization.enabled": "true",
        "super.users": "User:admin",
    }
    with LocalRegistry(secured.bootstrap_servers, settings) as registry:
        yield registry


@pytest.fixture(scope="module")
def ask(registry: LocalRegistry) -> Iterator[Ask]:
    with httpx2.Client(base_url=registry.url, timeout=WAIT_S) as client:

        def ask(user: str, method: str, path: str, body: Any = None) -> httpx2.Response:
            name, _, password = user.partition(":")
            return client.request(method, path, json=body, auth=(name, password or USERS[name]))

        yield ask


@pytest.fixture(scope="module")
def roles(secured: LocalCluster, ask: Ask) -> Roles:
    """The first grants come when the registry runs already."""
    assert ask("reader", "GET", "/subjects").json() == []
    roles = Roles(secured)
    roles.set(
        of_subjects("reader", Role.DEVELOPER_READ),
        of_subjects("writer", Role.DEVELOPER_WRITE),
        of_subjects("manager", Role.DEVELOPER_MANAGE),
        make_member("keepers", "User:owner"),
        make_binding("Group:keepers", Role.RESOURCE_OWNER, ServiceKind.SUBJECT, "payments", Pattern.LITERAL),
        make_binding("User:operator", Role.OPERATOR, ResourceKind.CLUSTER, CLUSTER_NAME, Pattern.LITERAL),
    )
    for subject in ("orders-value", "payments"):
        schema = {"schema": AVRO}
        assert ask("admin", "POST", f"/subjects/{subject}/versions", schema).status_code == 200
    until(lambda: ask("operator", "GET", "/subjects").json() == ["orders-value", "payments"])
    return roles


def test_users_of_the_cluster_log_in_with_their_passwords(ask: Ask, caplog: pytest.LogCaptureFixture) -> None:
    assert ask("admin", "GET", "/subjects").status_code == 200
    for login in ("reader:wrong", "someone:wonder", "reader:writer-secret"):
        refused = ask(login, "GET", "/subjects")
        assert (refused.status_code, refused.json()["message"]) == (401, "Unauthorized")
        assert refused.headers["www-authenticate"].startswith("Basic")
        assert f"the cluster refuses the login of user '{login.partition(':')[0]}': " in caplog.text
    assert "wonder" not in caplog.text and "writer-secret" not in caplog.text


def test_an_api_key_has_the_rights_of_its_account(ask: Ask, roles: Roles, secured: LocalCluster) -> None:
    day = timedelta(days=1)
    today = datetime.now(UTC).date()
    admin = AdminClient(secured.client_settings("admin"))
    logins = []
    for last_day in (None, today + day, today - day):
        key, secret = new_key("reader", last_day)
        credential = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        change = UserScramCredentialUpsertion(key.name, credential, secret.encode())
        admin.alter_user_scram_credentials([change])[key.name].result(WAIT_S)
        logins.append(f"{key.name}:{secret}")
    for login in logins[:2]:
        assert ask(login, "GET", "/subjects").json() == ["orders-value"]
    assert ask(logins[2], "GET", "/subjects").status_code == 401
    assert ask(f"{logins[0]}x", "GET", "/subjects").status_code == 401


def test_a_client_with_a_token_has_the_rights_of_its_subject(
    registry: LocalRegistry, roles: Roles, provider_key: ECKey
) -> None:
    claims = {"sub": "reader", "exp": int(time.time()) + 600}
    token = jwt.encode({"alg": "ES256", "kid": "one"}, claims, provider_key, algorithms=["ES256"])
    settings = {
        "url": registry.url,
        "bearer.auth.credentials.source": "STATIC_TOKEN",
        "bearer.auth.token": token,
        "bearer.auth.logical.cluster": "any",
        "bearer.auth.identity.pool.id": "any",
        "max.retries": 0,
    }
    with SchemaRegistryClient(settings) as client:
        assert client.get_latest_version("orders-value").schema.schema_str == AVRO
        with pytest.raises(SchemaRegistryError, match="may not write subject 'orders-value'") as refused:
            client.register_schema("orders-value", Schema('"string"', "AVRO"))
        assert (refused.value.http_status_code, refused.value.error_code) == (403, 40301)


READ = [
    ("GET", "/subjects/{0}/versions/1", None),
    ("GET", "/subjects/{0}/versions/latest/schema", None),
    ("GET", "/subjects/{0}/versions/1/referencedby", None),
    ("POST", "/subjects/{0}", {"schema": AVRO}),
    ("POST", "/compatibility/subjects/{0}/versions/latest", {"schema": AVRO}),
]
DESCRIBE = [
    ("GET", "/subjects/{0}/versions", None),
    ("GET", "/config/{0}?defaultToGlobal=true", None),
    ("GET", "/mode/{0}?defaultToGlobal=true", None),
]
WRITE = [("POST", "/subjects/{0}/versions", {"schema": AVRO})]
MANAGE = [
    ("PUT", "/config/{0}", {"compatibility": "NONE"}),
    ("DELETE", "/config/{0}", None),
    ("PUT", "/mode/{0}", {"mode": "READWRITE"}),
    ("DELETE", "/mode/{0}", None),
]
GLOBAL = [("PUT", "/config", {"compatibility": "BACKWARD"}), ("PUT", "/mode", {"mode": "READWRITE"})]
OPEN = [("GET", "/config", None), ("GET", "/mode", None), ("GET", "/schemas/types", None), ("GET", "/", None)]


@pytest.mark.parametrize(
    ("user", "subject", "allowed"),
    [
        ("reader", "orders-value", [*DESCRIBE, *READ]),
        ("reader", "payments", []),
        ("writer", "orders-value", [*DESCRIBE, *READ, *WRITE]),
        ("manager", "orders-value", [*DESCRIBE, *MANAGE]),
        ("owner", "payments", [*DESCRIBE, *READ, *WRITE, *MANAGE]),
        ("owner", "orders-value", []),
        ("operator", "payments", DESCRIBE),
        ("nobody", "orders-value", []),
        ("admin", "payments", [*DESCRIBE, *READ, *WRITE, *MANAGE, *GLOBAL]),
    ],
)
def test_a_role_decides_what_is_allowed(
    ask: Ask, roles: Roles, user: str, subject: str, allowed: list[Any]
) -> None:
    for request in [*DESCRIBE, *READ, *WRITE, *MANAGE, *GLOBAL, *OPEN]:
        method, path, body = request
        answer = ask(user, method, path.format(subject), body)
        if request in allowed or request in OPEN:
            assert answer.status_code == 200, (request, answer.text)
        else:
            assert answer.status_code == 403, (request, answer.text)
            assert answer.json()["error_code"] == 40301
            assert f"User:{user} may not" in answer.json()["message"]


def test_lists_show_what_the_caller_may_see(ask: Ask, roles: Roles) -> None:
    assert ask("reader", "GET", "/subjects").json() == ["orders-value"]
    assert [one["subject"] for one in ask("owner", "GET", "/schemas").json()] == ["payments"]
    assert ask("nobody", "GET", "/schemas").json() == []
    number = ask("admin", "GET", "/subjects/payments/versions/1").json()["id"]
    assert ask("owner", "GET", f"/schemas/ids/{number}").json()["schema"] == AVRO
    assert ask("owner", "GET", f"/schemas/ids/{number}/subjects").json() == ["payments"]
    assert ask("reader", "GET", f"/schemas/ids/{number}/versions").json() == [
        {"subject": "orders-value", "version": 1}
    ]
    assert ask("nobody", "GET", f"/schemas/ids/{number}").status_code == 403
    assert ask("nobody", "GET", f"/schemas/ids/{number}/schema").status_code == 403


def test_references_need_the_right_to_read_what_they_name(ask: Ask, roles: Roles) -> None:
    refers = {"name": "Order", "subject": "payments", "version": 1}
    using = '{"type":"record","name":"Use","fields":[{"name":"order","type":"Order"}]}'
    body = {"schema": using, "references": [refers]}
    for path in ("/subjects/orders-use/versions", "/subjects/orders-use"):
        refused = ask("writer", "POST", path, body)
        assert (refused.status_code, "read subject 'payments'" in refused.json()["message"]) == (403, True)
    body["references"] = [{**refers, "subject": "orders-value"}]
    assert ask("writer", "POST", "/subjects/orders-use/versions", body).status_code == 200


def test_an_alias_gives_no_right_to_what_it_stands_for(ask: Ask, roles: Roles) -> None:
    assert ask("manager", "PUT", "/config/orders-alias", {"alias": "payments"}).status_code == 200
    assert ask("reader", "GET", "/subjects/orders-alias/versions/1").status_code == 403
    assert ask("manager", "DELETE", "/subjects/orders-alias").status_code == 403
    assert ask("manager", "DELETE", "/config/orders-alias").status_code == 200


def test_a_grant_and_its_end_count_at_once(ask: Ask, roles: Roles) -> None:
    path = "/subjects/late/versions"
    granted = of_subjects("nobody", Role.DEVELOPER_WRITE, "late", Pattern.LITERAL)
    assert ask("nobody", "POST", path, {"schema": AVRO}).status_code == 403
    roles.set(granted)
    until(lambda: ask("nobody", "POST", path, {"schema": AVRO}).status_code == 200)
    assert ask("nobody", "DELETE", "/subjects/late").status_code == 403
    roles.set(granted, present=False)
    until(lambda: ask("nobody", "GET", path).status_code == 403)
    roles.set(make_member("keepers", "User:owner"), present=False)
    until(lambda: ask("owner", "GET", "/subjects/payments/versions").status_code == 403)
    roles.set(make_member("keepers", "User:owner"))


def test_deleting_needs_a_right_of_its_own(ask: Ask, roles: Roles) -> None:
    assert ask("admin", "POST", "/subjects/orders-old/versions", {"schema": AVRO}).status_code == 200
    assert ask("writer", "DELETE", "/subjects/orders-old/versions/1").status_code == 403
    assert ask("writer", "DELETE", "/subjects/orders-old").status_code == 403
    assert ask("manager", "DELETE", "/subjects/orders-old/versions/1").status_code == 200
    assert ask("manager", "DELETE", "/subjects/orders-old?permanent=true").status_code == 200
    assert ask("manager", "DELETE", "/contexts/staging").status_code == 403


def test_contexts_and_associations(ask: Ask, roles: Roles) -> None:
    staging = {"schema": AVRO}
    assert (
        ask("admin", "POST", "/contexts/staging/subjects/orders-value/versions", staging).status_code == 200
    )
    assert ask("reader", "GET", "/contexts/staging/subjects/orders-value/versions/1").status_code == 403
    assert ask("reader", "GET", "/contexts").json() == ["."]
    assert ask("admin", "GET", "/contexts").json() == [".", ".staging"]
    context = of_subjects("reader", Role.DEVELOPER_READ, ":.staging:")
    keeper = of_subjects("manager", Role.DEVELOPER_MANAGE, ":.staging:")
    roles.set(context, keeper)
    until(lambda: ask("reader", "GET", "/contexts").json() == [".", ".staging"])
    assert ask("reader", "GET", "/contexts/staging/subjects/orders-value/versions/1").status_code == 200
    assert ask("reader", "PUT", "/contexts/staging/config", {"compatibility": "NONE"}).status_code == 403
    assert ask("manager", "PUT", "/contexts/staging/config", {"compatibility": "NONE"}).status_code == 200
    roles.set(context, keeper, present=False)

    def association(subject: str) -> dict[str, Any]:
        resource = {"resourceName": "orders", "resourceNamespace": "cluster", "resourceId": subject}
        return {**resource, "associations": [{"subject": subject}]}

    assert ask("writer", "POST", "/associations", association("payments")).status_code == 403
    assert ask("writer", "POST", "/associations", association("orders-value")).status_code == 200
    assert ask("owner", "GET", "/associations/resources/orders-value").json() == []
    assert len(ask("reader", "GET", "/associations/resources/orders-value").json()) == 1
    assert ask("reader", "DELETE", "/associations/resources/orders-value").status_code == 403
    assert ask("writer", "DELETE", "/associations/resources/orders-value").status_code == 204
