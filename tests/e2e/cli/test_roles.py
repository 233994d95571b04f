"""`moldau roles`: a role allows at the broker what it says, and no more, on Moldau and on Kafka alike.

Commands run in this process: there are many, and each start of an interpreter takes half a second.
"""

import json
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from compat.access.login import PASSWORD, UserWire
from compat.access.secured import ADMIN, SecuredKafka, SecuredMoldau
from compat.apache_kafka import ApacheKafka
from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from kafka_jars import KafkaJarsUnavailable
from moldau.cli.client.acl_queries import find_rules
from moldau.cli.client.connection import Cluster
from moldau.cli.commands.roles.role_changes import add, all_rules, end
from moldau.cli.commands.roles.role_topic import read_roles
from moldau.cli.main import main
from moldau.cli.options import read_properties
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TOPIC_ID_ZERO
from moldau.protocol.messages.topics.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.topics.delete_topics import DeleteTopicsRequest, DeleteTopicState
from moldau.protocol.messages.topics.metadata import MetadataRequest, MetadataRequestTopic
from moldau.security.access.model import Pattern, ResourceKind, RuleFilter
from moldau.security.roles.model import Binding, Role, make_binding
from moldau.security.roles.records import Member, make_member

USERS = ("alice", "bob", "carol", "dave", "sec")
Run = Callable[..., str]


class Guarded:
    """A broker with logins and an authorizer, and a client file for each user."""

    def __init__(self, port: int, folder: Path) -> None:
        self.port = port
        self.files = {user: folder / f"{user}.properties" for user in (ADMIN, *USERS)}
        for user, path in self.files.items():
            path.write_text(
                f"bootstrap.servers=127.0.0.1:{port}\nsecurity.protocol=SASL_PLAINTEXT\n"
                f"sasl.mechanism=PLAIN\nsasl.username={user}\nsasl.password={PASSWORD}\n"
            )
        self._wires: dict[str, UserWire] = {}

    def wire(self, user: str) -> UserWire:
        return self._wires.setdefault(user, UserWire(self.port, user))

    def close(self) -> None:
        for wire in self._wires.values():
            wire.close()

    def sees(self, user: str, topic: str) -> bool:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        [found] = self.wire(user).call(request, 9).topics
        return bool(found.error_code != ErrorCode.TOPIC_AUTHORIZATION_FAILED)

    def creates(self, user: str, topic: str) -> bool:
        wanted = CreatableTopic(
            name=topic, num_partitions=1, replication_factor=1, assignments=[], configs=[]
        )
        [made] = self.wire(user).call(CreateTopicsRequest(topics=[wanted]), 7).topics
        return bool(made.error_code == 0)

    def deletes(self, user: str, topic: str) -> bool:
        request = DeleteTopicsRequest(
            topics=[DeleteTopicState(name=topic, topic_id=TOPIC_ID_ZERO)], timeout_ms=30_000
        )
        [gone] = self.wire(user).call(request, 6).responses
        return bool(gone.error_code == 0)


@pytest.fixture(scope="module")
def guarded(
    broker_class: type[ApacheKafka | MoldauBroker], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("roles")
    secured = SecuredKafka if broker_class is ApacheKafka else SecuredMoldau
    try:
        server = secured(folder / "broker", USERS)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    with server:
        found = Guarded(server.port, folder)
        yield found
        found.close()


@pytest.fixture
def run(guarded: Guarded, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str, user: str = ADMIN, code: int = 0) -> str:
        """Standard output, or standard error when the command is to fail."""
        capsys.readouterr()
        found = main([*arguments, "--command-config", str(guarded.files[user]), "--timeout", "60"])
        said = capsys.readouterr()
        assert found == code, said.out + said.err
        return said.err if code else said.out

    return run


def rules(run: Run, user: str) -> set[tuple[str, ...]]:
    found: list[dict[str, str]] = json.loads(run("acls", "list", user, "--output", "json"))
    return {(rule["operation"], rule["resource_type"], rule["resource_name"]) for rule in found}


def granted(run: Run, *arguments: str) -> set[tuple[str, ...]]:
    found: list[dict[str, str]] = json.loads(run("roles", "list", *arguments, "--output", "json"))
    return {(each["principal"], each["role"], each["resource_type"], each["resource_name"]) for each in found}


def explained(run: Run, *arguments: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(run("explain", "access", *arguments, "--output", "json"))
    return told


def test_a_role_allows_what_it_says_until_it_is_revoked(guarded: Guarded, run: Run) -> None:
    assert not guarded.creates("alice", "team-a")
    plan = run("roles", "grant", "alice", "developer-manage", "--topic", "team-", "--prefixed", "--dry-run")
    assert "  User:alice is allowed alter-configs on every topic whose name starts with 'team-'.\n" in plan
    assert not granted(run, "alice") and not rules(run, "alice")
    said = run("roles", "grant", "alice", "developer-manage", "--topic", "team-", "--prefixed")
    assert said == "User:alice has the role DeveloperManage on every topic whose name starts with 'team-'.\n"
    wait_until(lambda: guarded.creates("alice", "team-a"), "alice may create topics")
    assert not guarded.creates("alice", "other")
    wait_until(lambda: guarded.deletes("alice", "team-a"), "alice may delete topics")
    assert "The rule comes with a role: User:alice has the role DeveloperManage" in run(
        "explain", "access", "alice", "create", "topic:team-x"
    )
    [role] = explained(run, "alice", "describe", "topic:team-x")["roles"]
    assert role["resource_name"] == "team-" and role["pattern_type"] == "PREFIXED"
    said = run("roles", "revoke", "alice", "--yes")
    assert said.endswith("1 role revoked, 4 access rules removed.\n")
    wait_until(lambda: not guarded.creates("alice", "team-b"), "alice may no longer create topics")
    assert not rules(run, "alice") and not granted(run, "alice")


def test_rules_that_another_role_needs_stay(run: Run) -> None:
    run("roles", "grant", "bob", "DeveloperRead", "--topic", "orders", "--group", "shop")
    run("roles", "grant", "Group:readers", "developer-read", "--topic", "orders")
    run("roles", "group", "add", "readers", "--member", "bob")
    run("roles", "grant", "bob", "developer-write", "--topic", "orders")
    wait_until(lambda: len(rules(run, "bob")) == 3, "bob has the rules of his roles")
    said = run("roles", "revoke", "bob", "--role", "developer-read", "--yes")
    assert said.endswith("2 roles revoked, 1 access rule removed.\n")
    left = {("READ", "TOPIC", "orders"), ("WRITE", "TOPIC", "orders")}
    wait_until(lambda: rules(run, "bob") == left, "only the rule that nobody needs is gone")
    assert granted(run, "bob") == {
        ("Group:readers", "DeveloperRead", "TOPIC", "orders"),
        ("User:bob", "DeveloperWrite", "TOPIC", "orders"),
    }


def test_a_group_has_its_roles_for_its_members(guarded: Guarded, run: Run) -> None:
    run("roles", "grant", "Group:shop", "developer-read", "--topic", "orders")
    assert not rules(run, "carol")
    run("roles", "group", "add", "shop", "--member", "carol", "--member", "User:dave")
    wait_until(lambda: guarded.sees("carol", "orders"), "carol sees the topic")
    run("acls", "add", "carol", "--topic", "orders", "--operation", "all", "--deny")
    wait_until(lambda: not guarded.sees("carol", "orders"), "a rule that denies wins")
    run("roles", "group", "remove", "shop", "--member", "dave", "--yes")
    wait_until(lambda: not rules(run, "dave"), "dave's rules are gone")
    assert json.loads(run("roles", "group", "list", "shop", "-o", "json")) == [
        {"group": "shop", "member": "User:carol"}
    ]
    assert "User:dave is not in group 'shop'" in run(
        "roles", "group", "remove", "shop", "--member", "dave", "--yes", code=1
    )
    assert "Did you mean 'shop'?" in run("roles", "group", "remove", "shopp", "--yes", code=1)


def test_roles_at_services_are_kept_and_explained(run: Run) -> None:
    denied = explained(run, "carol", "write", "subject:orders-value")
    assert not denied["allowed"]
    [remedy] = denied["remedies"]
    run(*remedy.removeprefix("moldau ").split())
    assert explained(run, "carol", "write", "subject:orders-value")["binding"]["role"] == "DeveloperWrite"
    assert not explained(run, "carol", "delete", "subject:orders-value")["allowed"]
    assert "A group does nothing itself" in run("explain", "access", "Group:g", "read", "subject:a", code=2)
    assert "There is no operation alter on subject 'a'" in run(
        "explain", "access", "carol", "alter", "subject:a", code=2
    )


def test_a_security_admin_grants_roles_and_others_cannot(guarded: Guarded, run: Run) -> None:
    run("roles", "grant", "alice", "resource-owner", "--topic", "_moldau_roles")
    refusal = run("roles", "grant", "bob", "developer-read", "--topic", "pay", user="alice", code=1)
    assert "cannot add access rules: not authorized for the cluster" in refusal
    assert not granted(run, "--topic", "pay")
    run("roles", "revoke", "alice", "--yes")
    run("roles", "grant", "sec", "security-admin")
    wait_until(lambda: guarded.sees("sec", "_moldau_roles"), "sec is a security admin")
    run("roles", "grant", "bob", "developer-read", "--topic", "pay", user="sec")
    assert granted(run, "--topic", "pay") == {("User:bob", "DeveloperRead", "TOPIC", "pay")}
    run("roles", "revoke", "bob", "--topic", "pay", "--yes", user="sec")
    assert not guarded.sees("sec", "orders")


def test_a_plan_warns_as_the_grant_does(guarded: Guarded, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["--command-config", str(guarded.files[ADMIN])]
    grant = ["roles", "grant", "dave", "developer-write", "--topic", "*", "--dry-run", *at]
    assert main(grant) == 0
    assert "a user who writes to it grants roles at HTTP services" in capsys.readouterr().err


def test_a_record_that_is_no_role_is_told_by_the_list_alone(
    guarded: Guarded, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--command-config", str(guarded.files[ADMIN])]
    assert main(["roles", "grant", "dave", "operator", *at]) == 0
    properties = read_properties(str(guarded.files[ADMIN]))
    servers = properties.pop("bootstrap.servers")
    with closing(Cluster(servers, properties, 60)) as cluster:
        producer = cluster.producer({})
        for key in (b"odd", b"odder"):
            producer.produce("_moldau_roles", b"x", key)
        assert producer.flush(60) == 0
    capsys.readouterr()
    assert main(["roles", "list", "dave", *at]) == 0
    told = capsys.readouterr().err
    assert told.count("is no role, which is skipped: offset") == 1 and "and 1 other" in told
    assert main(["roles", "revoke", "dave", "--yes", *at]) == 0
    assert "skipped" not in capsys.readouterr().err


def test_rules_that_somebody_removed_come_back(run: Run) -> None:
    run("roles", "grant", "dave", "developer-write", "--transactional-id", "tx")
    assert run("roles", "sync", "--dry-run").endswith("0 access rules missing.\n")
    run("acls", "remove", "dave", "--yes")
    wait_until(lambda: not rules(run, "dave"), "the rule is gone")
    assert run("roles", "sync").endswith(
        "User:dave is allowed write on transactional id 'tx'.\n1 access rule added.\n"
    )
    wait_until(lambda: rules(run, "dave") == {("WRITE", "TRANSACTIONAL_ID", "tx")}, "the rule is back")


def test_many_administrators_at_once_leave_the_rules_that_roles_need(guarded: Guarded, run: Run) -> None:
    """Each of them grants and revokes roles that need the same rules, and changes the members of one group."""
    own = {"User:eve", "User:fay"}
    everything: list[Binding | Member] = [
        make_binding(principal, role, ResourceKind.TOPIC, "busy")
        for principal in ("User:eve", "Group:busy")
        for role in (Role.DEVELOPER_READ, Role.DEVELOPER_WRITE)
    ]
    everything += [make_member("busy", principal) for principal in own]
    properties = read_properties(str(guarded.files[ADMIN]))
    servers = properties.pop("bootstrap.servers")

    def administer(seed: int) -> None:
        dice = random.Random(seed)
        with closing(Cluster(servers, properties, 60)) as cluster:
            for _ in range(4):
                dice.choice([add, end])(cluster, dice.sample(everything, 2))

    with ThreadPoolExecutor() as administrators:
        list(administrators.map(administer, range(3)))
    with closing(Cluster(servers, properties, 60)) as cluster:
        needed = {rule for rule in all_rules(read_roles(cluster)) if rule.principal in own}

        def agree() -> bool:
            found = find_rules(cluster, RuleFilter(ResourceKind.TOPIC, "busy", Pattern.LITERAL))
            return {rule for rule in found if rule.principal in own} == needed

        wait_until(agree, "the rules are those of the roles")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["grant", "alice", "reader", "--topic", "t"], "'reader' is not a role: use one of ClusterAdmin"),
        (["grant", "alice", "developer-read"], "DeveloperRead on which resource?"),
        (["grant", "alice", "developer-write", "--group", "g"], "DeveloperWrite means nothing on a group"),
        (
            ["grant", "alice", "operator", "--topic", "t"],
            "Operator is granted on the cluster, not on a topic",
        ),
        (["group", "add", "g", "--member", "Group:h"], "groups contain users, not groups"),
        (["group", "add", "g", "--member", "user:h"], "case matters: write User:h."),
        (["grant", "user:alice", "operator"], "case matters: write User:alice."),
        (["grant", "GROUP:shop", "operator"], "case matters: write Group:shop."),
        (["grant", "User:", "operator"], "names nobody: write User:NAME."),
    ],
)
def test_wrong_usage_of_roles(run: Run, arguments: list[str], says: str) -> None:
    assert says in run("roles", *arguments, code=2)
