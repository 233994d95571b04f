"""Puts a broker's parts together and hands each the others it needs. Starts nothing."""

import secrets
from typing import Final

from moldau.broker.broker import Broker
from moldau.broker.fetch.fetch_sessions import FetchSessions
from moldau.broker.handlers import HANDLERS
from moldau.broker.hosting.flusher import Flusher
from moldau.broker.hosting.log_host import LogsByRole
from moldau.broker.request.answer_cache import AnswerCache
from moldau.broker.request.api_table import ApiTable
from moldau.broker.tokens.delegation_tokens import DelegationTokens
from moldau.broker.topics.internal_topics import InternalTopics
from moldau.broker.topics.partition_admin import StandalonePartitionAdmin
from moldau.broker.topics.topic_admin import TopicAdmin
from moldau.broker.transactions.producer_ids import ProducerIds
from moldau.coordination.security.security_tree import SecurityTree
from moldau.core.ports import Clock, Scheduler
from moldau.core.settings.resolve import BrokerLayers
from moldau.node import access
from moldau.node.coordinators import CoordinatorAssembly
from moldau.node.key_download import fetch_keys
from moldau.node.opening import OpenedData
from moldau.node.shared_parts import ClusterParts, SharedParts, assemble_shared_parts
from moldau.security.quotas.client_quotas import ClientQuotas
from moldau.security.quotas.quota_keys import quota_values
from moldau.security.quotas.usage import Windows
from moldau.security.sasl.listener_logins import Logins, LoginSources
from moldau.security.sasl.stored_users import StoredUsers
from moldau.security.sasl.token_checks import TokenChecks

FETCH_SESSION_EVICTION_MS: Final = 120_000


def assemble(
    layers: BrokerLayers,
    data: OpenedData,
    clock: Clock,
    scheduler: Scheduler,
    store_thread: Scheduler,
    cluster: ClusterParts | None = None,
    login_threads: Scheduler | None = None,
) -> Broker:
    """`store_thread` runs its jobs one at a time, in order. Without `cluster` the broker stands alone and leads
    everything on its disks. `login_threads` run logins that may block, so that they cannot keep the disks' work
    waiting."""
    parts = assemble_shared_parts(layers, data, clock, scheduler, store_thread, cluster)
    if parts.is_alone:
        for entry in data.catalog.topics():
            parts.logs.serve(entry, 0)
    topics = _topic_admin(parts)
    internal_topics = InternalTopics(parts.catalog, parts.configs, topics, is_alone=parts.is_alone)
    producer_ids = ProducerIds(parts.store, store_thread, parts.broker_id)
    coordinators = CoordinatorAssembly(parts, internal_topics, producer_ids).assemble()
    security = SecurityTree(parts.store, store_thread)
    tokens = DelegationTokens(parts.store, store_thread, clock, lambda: parts.configs.broker)
    quotas = _client_quotas(parts, security)
    audit = access.audit_stream(parts, topics, data.cluster_id)
    partition_admin = None if cluster is None else cluster.partition_admin
    return Broker(
        broker_id=parts.broker_id,
        cluster_id=data.cluster_id,
        rack=parts.settings.broker_rack,
        clock=clock,
        scheduler=scheduler,
        table=ApiTable(HANDLERS),
        answers=AnswerCache(lambda: parts.catalog.epoch + parts.members.epoch),
        listeners=parts.listeners,
        members=parts.members,
        peers=parts.peers,
        catalog=parts.catalog,
        configs=parts.configs,
        topics=topics,
        partitions=parts.partitions,
        partition_admin=partition_admin or StandalonePartitionAdmin(parts.catalog, parts.broker_id),
        disks=parts.disks,
        flusher=Flusher(scheduler, clock, parts.disks),
        parked_fetches=parts.parked_fetches,
        fetch_sessions=_fetch_sessions(parts),
        producer_ids=producer_ids,
        groups=coordinators.groups,
        transactions=coordinators.transactions,
        markers=coordinators.markers,
        security=security,
        tokens=tokens,
        logins=_logins(parts, security, tokens, login_threads or scheduler),
        quotas=quotas,
        selects_replicas=bool(parts.settings.replica_selector_class),
        authorizer=access.authorizer(parts, security.rules, audit),
        audit=audit,
    )


def _fetch_sessions(parts: SharedParts) -> FetchSessions:
    return FetchSessions(
        slots_max=parts.settings.max_incremental_fetch_session_cache_slots,
        eviction_ms_min=FETCH_SESSION_EVICTION_MS,
        new_id=lambda: secrets.randbits(31),
    )


def _client_quotas(parts: SharedParts, security: SecurityTree) -> ClientQuotas:
    settings = parts.settings
    quotas = ClientQuotas(
        Windows(settings.quota_window_num, settings.quota_window_size_seconds * 1000),
        Windows(settings.controller_quota_window_num, settings.controller_quota_window_size_seconds * 1000),
    )

    def take() -> None:
        quotas.put({entity: quota_values(texts) for entity, texts in security.entities.items()})

    take()
    security.subscribe(lambda _: take())
    return quotas


def _logins(
    parts: SharedParts, security: SecurityTree, tokens: DelegationTokens, threads: Scheduler
) -> Logins:
    clock = parts.clock
    checks = TokenChecks(fetch_keys, clock.now_ms, clock.monotonic_ms)
    users = StoredUsers(security.user_configs, clock.now_ms)
    sources = LoginSources(users, tokens.known, checks)
    return Logins(lambda: parts.configs.broker, sources, threads)


def _topic_admin(parts: SharedParts) -> TopicAdmin:
    members = parts.members
    return TopicAdmin(
        parts.store,
        parts.catalog,
        parts.configs,
        parts.logs if parts.is_alone else LogsByRole(),
        parts.store_thread.run_in_worker,
        lambda: sorted(members.alive),
        racks=lambda: {each.broker_id: each.rack for each in members if each.rack},
        is_alone=parts.is_alone,
    )
