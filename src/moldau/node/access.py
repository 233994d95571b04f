"""Makes the authorizer of a broker and the audit stream that is told of its denials."""

from moldau.broker.audit.audit_stream import AuditStream
from moldau.broker.audit.audit_writer import AuditWriter
from moldau.broker.topics.topic_admin import TopicAdmin
from moldau.node.shared_parts import SharedParts
from moldau.security.access.authorizer import Authorizer
from moldau.security.access.authorizer_settings import make_authorizer
from moldau.security.access.rules import Rules


def audit_stream(parts: SharedParts, topics: TopicAdmin, cluster_id: str) -> AuditStream | None:
    """None if the settings do not ask for one."""
    if not parts.settings.moldau_audit_enable:
        return None
    writer = AuditWriter(
        parts.broker_id,
        parts.catalog,
        parts.configs,
        topics,
        parts.partitions,
        parts.parked_fetches,
        parts.peers,
        is_alone=parts.is_alone,
    )
    source = f"urn:kafka:{cluster_id}:broker:{parts.broker_id}"
    return AuditStream(writer, parts.scheduler, parts.clock, source)


def authorizer(parts: SharedParts, rules: Rules, audit: AuditStream | None) -> Authorizer:
    """ConfigError if a setting is wrong."""
    settings = parts.settings
    return make_authorizer(
        settings.authorizer_class_name,
        settings.super_users,
        rules,
        allows_without_rules=settings.allow_everyone_if_no_acl_found,
        witness=None if audit is None else audit.denied,
    )
