"""The parts of a broker. Each part is the only owner of its state; handlers reach it through `Broker`.

Holds references only: no behaviour. `node/` assembles it.
"""

from dataclasses import dataclass, field

from moldau.broker.audit.audit_stream import AuditStream
from moldau.broker.configs.config_store import ConfigStore
from moldau.broker.coordinator.router import GroupRouter, TxnRouter
from moldau.broker.fetch.fetch_sessions import FetchSessions
from moldau.broker.fetch.parked_fetches import ParkedFetches
from moldau.broker.hosting.disks import Disks
from moldau.broker.hosting.flusher import Flusher
from moldau.broker.hosting.hosted_partitions import HostedPartitions
from moldau.broker.members import Members
from moldau.broker.peers import Peers
from moldau.broker.request.advertised_listeners import AdvertisedListeners
from moldau.broker.request.answer_cache import AnswerCache
from moldau.broker.request.api_table import ApiTable
from moldau.broker.tokens.delegation_tokens import DelegationTokens
from moldau.broker.topics.catalog import TopicCatalog
from moldau.broker.topics.partition_admin import PartitionAdmin
from moldau.broker.topics.topic_admin import TopicAdmin
from moldau.broker.transactions.marker_writer import MarkerWriter
from moldau.broker.transactions.producer_ids import ProducerIds
from moldau.coordination.security.security_tree import SecurityTree
from moldau.core.ids import BrokerId
from moldau.core.ports import Clock, Scheduler
from moldau.security.access.authorizer import AllowEverything, Authorizer
from moldau.security.quotas.client_quotas import ClientQuotas
from moldau.security.sasl.listener_logins import Logins


@dataclass(frozen=True, slots=True)
class Broker:
    broker_id: BrokerId
    cluster_id: str
    rack: str | None
    clock: Clock
    scheduler: Scheduler
    table: ApiTable
    answers: AnswerCache
    listeners: AdvertisedListeners
    members: Members
    peers: Peers
    catalog: TopicCatalog
    configs: ConfigStore
    topics: TopicAdmin
    partitions: HostedPartitions
    partition_admin: PartitionAdmin
    disks: Disks
    flusher: Flusher
    parked_fetches: ParkedFetches
    fetch_sessions: FetchSessions
    producer_ids: ProducerIds
    groups: GroupRouter
    transactions: TxnRouter
    markers: MarkerWriter
    security: SecurityTree
    """Rules of access, and the settings of users, clients and addresses."""
    tokens: DelegationTokens
    logins: Logins
    selects_replicas: bool
    """Whether consumers are sent to a replica in their rack (`replica.selector.class`, KIP-392)."""
    quotas: ClientQuotas = field(default_factory=ClientQuotas)
    authorizer: Authorizer = field(default_factory=AllowEverything)
    """Asked by every handler before it does something."""
    audit: AuditStream | None = None
    """Is told of logins and changes; None where nobody asked for it."""
