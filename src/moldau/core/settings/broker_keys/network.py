"""Listeners, sockets and requests."""

from moldau.core.settings.inert import (
    JVM,
    NO_FOLLOWERS,
    ONE_LOOP,
    SYSTEM_SOCKETS,
)
from moldau.core.settings.key import INT_MAX, Importance, Scope, class_name, integer, long, string, strings
from moldau.core.settings.view import SettingsView

CLUSTER = Scope.CLUSTER
HIGH = Importance.HIGH
LOW = Importance.LOW


class NetworkKeys(SettingsView):
    listeners = strings(
        "listeners",
        ("PLAINTEXT://:9092",),
        "Where to listen: `NAME://host:port`, comma separated. An empty host means every interface; port "
        "0 takes a free one.",
        importance=HIGH,
    )
    advertised_listeners = strings(
        "advertised.listeners",
        None,
        "The addresses clients are told to use. When not given, each client gets the address it connected to.",
        importance=HIGH,
    )
    listener_security_protocol_map = string(
        "listener.security.protocol.map",
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "The security protocol of each listener name, as `NAME:PROTOCOL` pairs.",
        importance=LOW,
    )
    inter_broker_listener_name = string(
        "inter.broker.listener.name",
        None,
        "The listener for connections between brokers. Not together with `security.inter.broker.protocol`.",
    )
    num_network_threads = integer(
        "num.network.threads",
        3,
        "In Apache Kafka: threads that read requests from sockets.",
        at_least=1,
        scope=CLUSTER,
        importance=HIGH,
        inert=ONE_LOOP,
    )
    num_io_threads = integer(
        "num.io.threads",
        8,
        "In Apache Kafka: threads that process requests.",
        at_least=1,
        scope=CLUSTER,
        importance=HIGH,
        inert=ONE_LOOP,
    )
    socket_receive_buffer_bytes = integer(
        "socket.receive.buffer.bytes",
        100 << 10,
        "Receive buffer of each client socket (SO_RCVBUF); -1 leaves it to the operating system.",
        importance=HIGH,
        inert=SYSTEM_SOCKETS,
    )
    socket_send_buffer_bytes = integer(
        "socket.send.buffer.bytes",
        100 << 10,
        "Send buffer of each socket of a client on another machine (SO_SNDBUF); -1 leaves it to the operating system, "
        "as it always is for clients on the same machine.",
        at_least=-1,
        importance=HIGH,
    )
    socket_request_max_bytes = integer(
        "socket.request.max.bytes",
        100 << 20,
        "The largest request taken. A client that announces more is disconnected before a byte of it is "
        "stored.",
        at_least=1,
        importance=HIGH,
    )
    socket_listen_backlog_size = integer(
        "socket.listen.backlog.size",
        50,
        "How many connections may wait to be accepted.",
        at_least=1,
    )
    socket_connection_setup_timeout_ms = long(
        "socket.connection.setup.timeout.ms",
        10_000,
        "How long the TLS handshake of a client may take before it is disconnected.",
        at_least=1,
    )
    socket_connection_setup_timeout_max_ms = long(
        "socket.connection.setup.timeout.max.ms",
        30_000,
        "Upper end of the growing wait for connections to other brokers.",
        inert=NO_FOLLOWERS,
    )
    connections_max_idle_ms = long(
        "connections.max.idle.ms", 600_000, "A connection without traffic for this long is closed."
    )
    connections_max_reauth_ms = long(
        "connections.max.reauth.ms",
        0,
        "Longest life of a SASL session before the client must authenticate again; 0 for no limit.",
    )
    connection_failed_authentication_delay_ms = integer(
        "connection.failed.authentication.delay.ms",
        100,
        "How long the answer to a failed authentication is delayed.",
        at_least=0,
        importance=LOW,
    )
    max_connections = integer(
        "max.connections",
        INT_MAX,
        "Maximum number of open connections. Further ones are closed at once.",
        at_least=0,
        scope=CLUSTER,
    )
    max_connections_per_ip = integer(
        "max.connections.per.ip",
        INT_MAX,
        "Maximum number of open connections from one address.",
        at_least=0,
        scope=CLUSTER,
    )
    max_connections_per_ip_overrides = string(
        "max.connections.per.ip.overrides",
        "",
        "Exceptions to `max.connections.per.ip`: `host:count` pairs, comma separated.",
        scope=CLUSTER,
    )
    max_connection_creation_rate = integer(
        "max.connection.creation.rate",
        INT_MAX,
        "Most new connections per second.",
        at_least=0,
        scope=CLUSTER,
    )
    queued_max_requests = integer(
        "queued.max.requests",
        500,
        "In Apache Kafka: requests that may wait before the network threads block.",
        at_least=1,
        importance=HIGH,
        inert=ONE_LOOP,
    )
    queued_max_request_bytes = long(
        "queued.max.request.bytes",
        -1,
        "In Apache Kafka: bytes of requests that may wait; -1 for no limit.",
        inert=ONE_LOOP,
    )
    request_timeout_ms = integer(
        "request.timeout.ms",
        30_000,
        "How long to wait for another broker's answer.",
        importance=HIGH,
        inert=NO_FOLLOWERS,
    )
    fetch_max_bytes = integer(
        "fetch.max.bytes",
        55 << 20,
        "Maximum bytes in one fetch response, whatever the client requests. The first batch is returned even "
        "if larger.",
        at_least=1024,
    )
    max_incremental_fetch_session_cache_slots = integer(
        "max.incremental.fetch.session.cache.slots",
        1000,
        "Incremental fetch sessions kept (KIP-227). Clients beyond that send full fetches.",
        at_least=0,
    )
    fetch_purgatory_purge_interval_requests = integer(
        "fetch.purgatory.purge.interval.requests",
        1000,
        "In Apache Kafka: how often completed fetches are purged from the purgatory.",
        inert=ONE_LOOP,
    )
    producer_purgatory_purge_interval_requests = integer(
        "producer.purgatory.purge.interval.requests",
        1000,
        "In Apache Kafka: how often completed produces are purged from the purgatory.",
        inert=ONE_LOOP,
    )
    delete_records_purgatory_purge_interval_requests = integer(
        "delete.records.purgatory.purge.interval.requests",
        1,
        "In Apache Kafka: how often completed deletions are purged from the purgatory.",
        inert=ONE_LOOP,
    )
    share_fetch_purgatory_purge_interval_requests = integer(
        "share.fetch.purgatory.purge.interval.requests",
        1000,
        "In Apache Kafka: how often completed share fetches are purged from the purgatory.",
        inert=ONE_LOOP,
    )
    quota_window_num = integer(
        "quota.window.num", 11, "Samples kept for client quotas.", at_least=1, importance=LOW
    )
    quota_window_size_seconds = integer(
        "quota.window.size.seconds",
        1,
        "Length of one sample for client quotas.",
        at_least=1,
        importance=LOW,
    )
    client_quota_callback_class = class_name(
        "client.quota.callback.class", None, "A class that decides client quotas.", importance=LOW, inert=JVM
    )
