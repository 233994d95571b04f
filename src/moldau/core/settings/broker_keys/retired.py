"""Keys from Kafka's ZooKeeper era that many server.properties files still have, and dynamic throttles."""

from moldau.core.settings.inert import AS_WRITTEN, KRAFT, NO_FOLLOWERS, RETIRED
from moldau.core.settings.key import LONG_MAX, Importance, Scope, boolean, integer, long, password, string
from moldau.core.settings.view import SettingsView

PER_BROKER = Scope.PER_BROKER
LOW = Importance.LOW


class RetiredKeys(SettingsView):
    broker_id_generation_enable = boolean(
        "broker.id.generation.enable",
        True,
        "Whether a cluster's broker without a broker ID gets a generated one, kept in `meta.properties`.",
    )
    reserved_broker_max_id = integer(
        "reserved.broker.max.id",
        1000,
        "The largest broker ID that may be configured. Generated IDs start above it.",
        at_least=0,
    )
    inter_broker_protocol_version = string(
        "inter.broker.protocol.version", None, "Protocol version between brokers.", inert=RETIRED
    )
    log_message_format_version = string(
        "log.message.format.version", None, "Version of the records on disk.", inert=RETIRED
    )
    log_message_downconversion_enable = boolean(
        "log.message.downconversion.enable",
        True,
        "Whether records are converted for old consumers.",
        inert=RETIRED,
    )
    password_encoder_secret = password(
        "password.encoder.secret", "Secret that encrypts passwords among dynamic settings.", inert=AS_WRITTEN
    )
    password_encoder_old_secret = password(
        "password.encoder.old.secret", "The secret before the current one.", inert=AS_WRITTEN
    )
    password_encoder_cipher_algorithm = string(
        "password.encoder.cipher.algorithm",
        "AES/CBC/PKCS5Padding",
        "Cipher for these passwords.",
        inert=AS_WRITTEN,
    )
    password_encoder_keyfactory_algorithm = string(
        "password.encoder.keyfactory.algorithm", None, "How the key for them is made.", inert=AS_WRITTEN
    )
    password_encoder_key_length = integer(
        "password.encoder.key.length", 128, "Length of that key.", at_least=8, inert=AS_WRITTEN
    )
    password_encoder_iterations = integer(
        "password.encoder.iterations", 4096, "How much work that key is.", at_least=1024, inert=AS_WRITTEN
    )
    zookeeper_sync_time_ms = integer(
        "zookeeper.sync.time.ms", 2000, "How far a ZooKeeper follower may be behind.", inert=RETIRED
    )
    zookeeper_metadata_migration_enable = boolean(
        "zookeeper.metadata.migration.enable", False, "Whether the cluster moves to KRaft.", inert=KRAFT
    )
    controlled_shutdown_max_retries = integer(
        "controlled.shutdown.max.retries", 3, "Attempts to hand over leaderships.", inert=RETIRED
    )
    controlled_shutdown_retry_backoff_ms = long(
        "controlled.shutdown.retry.backoff.ms", 5000, "Wait between such attempts.", inert=RETIRED
    )
    leader_imbalance_per_broker_percentage = integer(
        "leader.imbalance.per.broker.percentage",
        10,
        "Percentage of leaders on other than preferred replicas that is tolerated, per broker.",
    )
    quota_producer_default = long(
        "quota.producer.default",
        LONG_MAX,
        "Bytes per second each producer may send.",
        at_least=1,
        importance=LOW,
        inert=RETIRED,
    )
    quota_consumer_default = long(
        "quota.consumer.default",
        LONG_MAX,
        "Bytes per second each consumer may fetch.",
        at_least=1,
        importance=LOW,
        inert=RETIRED,
    )
    leader_replication_throttled_rate = long(
        "leader.replication.throttled.rate",
        LONG_MAX,
        "Bytes per second a leader sends to throttled replicas.",
        at_least=0,
        scope=PER_BROKER,
    )
    follower_replication_throttled_rate = long(
        "follower.replication.throttled.rate",
        LONG_MAX,
        "Bytes per second a follower fetches for throttled replicas.",
        at_least=0,
        scope=PER_BROKER,
    )
    replica_alter_log_dirs_io_max_bytes_per_second = long(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        LONG_MAX,
        "Bytes per second moved between log directories.",
        at_least=0,
        scope=PER_BROKER,
        inert=NO_FOLLOWERS,
    )
