"""The settings of the authorizer: which one it is, and who may do everything."""

from typing import Final

from moldau.core.errors import ConfigError
from moldau.security.access.authorizer import AllowEverything, Authorizer
from moldau.security.access.kafka_authorizer import KafkaAuthorizer, Witness
from moldau.security.access.rules import Rules

CLASS_NAMES: Final = frozenset(
    {
        "acl",
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "kafka.security.authorizer.AclAuthorizer",
        "kafka.security.auth.SimpleAclAuthorizer",
    }
)
"""Our own short name; Kafka's; those of its versions with ZooKeeper."""


def make_authorizer(
    class_name: str,
    super_users: str,
    rules: Rules,
    *,
    allows_without_rules: bool,
    witness: Witness | None = None,
) -> Authorizer:
    """ConfigError if a setting is wrong."""
    name = class_name.strip()
    if not name:
        return AllowEverything()
    if name not in CLASS_NAMES:
        raise ConfigError(
            f"authorizer.class.name={name}: there is no such authorizer here, and Java classes cannot be loaded; "
            f"use one of {', '.join(sorted(CLASS_NAMES))}, or leave it empty to allow everything"
        )
    return KafkaAuthorizer(
        rules,
        super_users=parse_super_users(super_users),
        allows_without_rules=allows_without_rules,
        witness=witness,
    )


def parse_super_users(text: str) -> frozenset[str]:
    """Of `User:alice;User:bob`. ConfigError if one is not a principal."""
    users = frozenset(each.strip() for each in text.split(";")) - {""}
    for user in sorted(users):
        if ":" not in user:
            raise ConfigError(
                f"super.users: {user!r} is not a principal; write it as User:{user}, and separate several with ;"
            )
    return users
