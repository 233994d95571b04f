"""One request of each API that asks for access, in any version, and what Kafka wants to see granted for it.

Shared by the unit tests of handlers and by the comparison with Apache Kafka.
"""

from access_requests import (
    CLUSTER,
    GROUP,
    TOPIC,
    TRANSACTIONAL_ID,
    Case,
    Need,
    acl_filter_body,
    add_partitions_body,
    config_body,
    consumer_body,
    coordinator_body,
    create_acl_body,
    create_topic_body,
    delete_topic_body,
    fetch_body,
    join_body,
    markers_body,
    member_body,
    metadata_body,
    offset_commit_body,
    offset_fetch_all_body,
    offset_fetch_body,
    partitions_body,
    produce_body,
    quota_body,
    token_body,
    token_owner_body,
    txn_body,
    txn_offsets_body,
)
from moldau.security.access.model import Operation


def _on_topic(operation: Operation) -> tuple[Need, ...]:
    return ((operation, TOPIC),)


def _on_group(operation: Operation) -> tuple[Need, ...]:
    return ((operation, GROUP),)


def _on_cluster(operation: Operation) -> tuple[Need, ...]:
    return ((operation, CLUSTER),)


def _on_txn(operation: Operation) -> tuple[Need, ...]:
    return ((operation, TRANSACTIONAL_ID),)


_O = Operation
_NO_MEMBER = {"generation_id_or_member_epoch": -1, "member_id": ""}

LOG_CASES = (
    Case("Produce", lambda w, v: produce_body(w, None), _on_topic(_O.WRITE)),
    Case(
        "Produce",
        lambda w, v: produce_body(w, w.transactional_id),
        (*_on_txn(_O.WRITE), *_on_topic(_O.WRITE)),
        "in a transaction",
    ),
    Case("Fetch", lambda w, v: fetch_body(w, -1), _on_topic(_O.READ)),
    Case("Fetch", lambda w, v: fetch_body(w, 99), (), "as a follower"),
    Case(
        "ListOffsets",
        lambda w, v: {"replica_id": -1, "topics": [partitions_body(w, partition_index=0, timestamp=-1)]},
        _on_topic(_O.DESCRIBE),
    ),
    Case(
        "DeleteRecords",
        lambda w, v: {"topics": [partitions_body(w, partition_index=0, offset=0)], "timeout_ms": 10_000},
        _on_topic(_O.DELETE),
    ),
    Case(
        "OffsetForLeaderEpoch",
        lambda w, v: {"topics": [partitions_body(w, partition=0, leader_epoch=0)]},
        _on_topic(_O.DESCRIBE),
    ),
    Case(
        "DescribeProducers",
        lambda w, v: {"topics": [{"name": w.topic, "partition_indexes": [0]}]},
        _on_topic(_O.READ),
    ),
    Case(
        "AlterReplicaLogDirs",
        lambda w, v: {"dirs": [{"path": w.log_dir, "topics": [{"name": w.topic, "partitions": [0]}]}]},
        _on_cluster(_O.ALTER),
    ),
    Case("DescribeLogDirs", lambda w, v: {"topics": None}, _on_cluster(_O.DESCRIBE), versions=(3, 99)),
)

TOPIC_CASES = (
    Case("Metadata", lambda w, v: metadata_body(w), _on_topic(_O.DESCRIBE), versions=(4, 99)),
    Case("Metadata", lambda w, v: metadata_body(w, by_id=True), _on_topic(_O.DESCRIBE), "by id", (12, 99)),
    Case("Metadata", lambda w, v: {**metadata_body(w), "topics": None}, (), "of all topics", (1, 99)),
    Case(
        "Metadata",
        lambda w, v: metadata_body(w, name=w.fresh, creates=True),
        (*_on_topic(_O.DESCRIBE), *_on_topic(_O.CREATE)),
        "that creates",
        (4, 99),
    ),
    Case("DescribeTopicPartitions", lambda w, v: {"topics": [{"name": w.topic}]}, _on_topic(_O.DESCRIBE)),
    Case("DescribeTopicPartitions", lambda w, v: {"topics": []}, (), "of all topics"),
    Case("CreateTopics", lambda w, v: create_topic_body(w), _on_topic(_O.CREATE)),
    Case("DeleteTopics", lambda w, v: delete_topic_body(w), _on_topic(_O.DELETE)),
    Case(
        "DeleteTopics", lambda w, v: delete_topic_body(w, by_id=True), _on_topic(_O.DELETE), "by id", (6, 99)
    ),
    Case(
        "DeleteTopics",
        lambda w, v: {
            "topics": [{"name": w.fresh, "topic_id": bytes(16)}],
            "topic_names": [w.fresh],
            "timeout_ms": 10_000,
        },
        _on_topic(_O.DESCRIBE),
        "that is not there",
    ),
    Case(
        "CreatePartitions",
        lambda w, v: {
            "topics": [{"name": w.topic, "count": 9, "assignments": None}],
            "timeout_ms": 10_000,
            "validate_only": True,
        },
        _on_topic(_O.ALTER),
    ),
    Case(
        "ElectLeaders",
        lambda w, v: {"topic_partitions": [partitions_body(w) | {"partitions": [0]}]},
        _on_cluster(_O.ALTER),
    ),
    Case(
        "AlterPartitionReassignments",
        lambda w, v: {
            "topics": [{"name": w.topic, "partitions": [{"partition_index": 0, "replicas": None}]}]
        },
        _on_cluster(_O.ALTER),
    ),
    Case("ListPartitionReassignments", lambda w, v: {"topics": None}, _on_cluster(_O.DESCRIBE)),
)

GROUP_CASES = (
    Case("FindCoordinator", lambda w, v: coordinator_body(w.group, 0), _on_group(_O.DESCRIBE)),
    Case(
        "FindCoordinator",
        lambda w, v: coordinator_body(w.transactional_id, 1),
        _on_txn(_O.DESCRIBE),
        "of a transaction",
        (1, 99),
    ),
    Case("JoinGroup", lambda w, v: join_body(w), _on_group(_O.READ)),
    Case(
        "SyncGroup",
        lambda w, v: member_body(w, protocol_type="consumer", protocol_name="range", assignments=[]),
        _on_group(_O.READ),
    ),
    Case("Heartbeat", lambda w, v: member_body(w), _on_group(_O.READ)),
    Case("LeaveGroup", lambda w, v: member_body(w), _on_group(_O.READ)),
    Case(
        "OffsetCommit",
        lambda w, v: offset_commit_body(w, _NO_MEMBER),
        (*_on_group(_O.READ), *_on_topic(_O.READ)),
    ),
    Case("OffsetFetch", offset_fetch_body, (*_on_group(_O.DESCRIBE), *_on_topic(_O.DESCRIBE))),
    Case("OffsetFetch", offset_fetch_all_body, _on_group(_O.DESCRIBE), "of all topics", (2, 99)),
    Case(
        "OffsetDelete",
        lambda w, v: {"group_id": w.group, "topics": [partitions_body(w, partition_index=0)]},
        (*_on_group(_O.DELETE), *_on_topic(_O.READ)),
    ),
    Case(
        "DescribeGroups",
        lambda w, v: {"groups": [w.group], "include_authorized_operations": True},
        _on_group(_O.DESCRIBE),
    ),
    Case("ListGroups", lambda w, v: {}, ()),
    Case("DeleteGroups", lambda w, v: {"groups_names": [w.fresh]}, _on_group(_O.DELETE)),
    Case(
        "ConsumerGroupHeartbeat",
        lambda w, v: consumer_body(w),
        (*_on_group(_O.READ), *_on_topic(_O.DESCRIBE)),
    ),
    Case(
        "ConsumerGroupDescribe",
        lambda w, v: {"group_ids": [w.group], "include_authorized_operations": True},
        _on_group(_O.DESCRIBE),
    ),
)

TXN_CASES = (
    Case(
        "InitProducerId",
        lambda w, v: {"transactional_id": None, "transaction_timeout_ms": 10_000},
        _on_cluster(_O.IDEMPOTENT_WRITE),
    ),
    Case(
        "InitProducerId",
        lambda w, v: txn_body(w, transaction_timeout_ms=10_000),
        _on_txn(_O.WRITE),
        "of a transaction",
    ),
    Case(
        "AddPartitionsToTxn",
        lambda w, v: add_partitions_body(w),
        (*_on_txn(_O.WRITE), *_on_topic(_O.WRITE)),
        versions=(0, 3),
    ),
    Case(
        "AddPartitionsToTxn",
        lambda w, v: add_partitions_body(w),
        _on_cluster(_O.CLUSTER_ACTION),
        "of a broker",
        (4, 99),
    ),
    Case(
        "AddOffsetsToTxn",
        lambda w, v: txn_body(w, group_id=w.group),
        (*_on_txn(_O.WRITE), *_on_group(_O.READ)),
    ),
    Case("EndTxn", lambda w, v: txn_body(w, committed=False), _on_txn(_O.WRITE)),
    Case(
        "TxnOffsetCommit",
        lambda w, v: txn_offsets_body(w),
        (*_on_txn(_O.WRITE), *_on_group(_O.READ), *_on_topic(_O.READ)),
    ),
    Case("WriteTxnMarkers", lambda w, v: markers_body(w), _on_cluster(_O.CLUSTER_ACTION)),
    Case(
        "DescribeTransactions", lambda w, v: {"transactional_ids": [w.transactional_id]}, _on_txn(_O.DESCRIBE)
    ),
    Case("ListTransactions", lambda w, v: {"state_filters": [], "producer_id_filters": []}, ()),
)

CONFIG_CASES = (
    Case(
        "DescribeConfigs",
        lambda w, v: config_body(2, w.topic, "x", ""),
        _on_topic(_O.DESCRIBE_CONFIGS),
        "of a topic",
    ),
    Case(
        "DescribeConfigs",
        lambda w, v: config_body(4, str(w.broker_id), "x", ""),
        _on_cluster(_O.DESCRIBE_CONFIGS),
        "of a broker",
    ),
    Case(
        "DescribeConfigs",
        lambda w, v: config_body(8, str(w.broker_id), "x", ""),
        _on_cluster(_O.DESCRIBE_CONFIGS),
        "of loggers",
    ),
    Case(
        "DescribeConfigs",
        lambda w, v: config_body(16, "metrics", "x", ""),
        _on_cluster(_O.DESCRIBE_CONFIGS),
        "of metrics",
    ),
    Case(
        "DescribeConfigs",
        lambda w, v: config_body(32, w.group, "x", ""),
        _on_group(_O.DESCRIBE_CONFIGS),
        "of a group",
    ),
    Case(
        "AlterConfigs",
        lambda w, v: config_body(2, w.topic, "retention.ms", "5000"),
        _on_topic(_O.ALTER_CONFIGS),
        "of a topic",
    ),
    Case(
        "AlterConfigs",
        lambda w, v: config_body(4, str(w.broker_id), "log.cleaner.threads", "1"),
        _on_cluster(_O.ALTER_CONFIGS),
        "of brokers",
    ),
    Case(
        "IncrementalAlterConfigs",
        lambda w, v: config_body(2, w.topic, "retention.ms", "5000"),
        _on_topic(_O.ALTER_CONFIGS),
        "of a topic",
    ),
    Case(
        "IncrementalAlterConfigs",
        lambda w, v: config_body(4, "", "log.cleaner.threads", "1"),
        _on_cluster(_O.ALTER_CONFIGS),
        "of brokers",
    ),
    Case(
        "IncrementalAlterConfigs",
        lambda w, v: config_body(16, "metrics", "interval.ms", "5000"),
        _on_cluster(_O.ALTER_CONFIGS),
        "of metrics",
    ),
    Case(
        "IncrementalAlterConfigs",
        lambda w, v: config_body(32, w.group, "consumer.session.timeout.ms", "50000"),
        _on_group(_O.ALTER_CONFIGS),
        "of a group",
    ),
    Case("ListConfigResources", lambda w, v: {}, _on_cluster(_O.DESCRIBE_CONFIGS)),
    Case("DescribeCluster", lambda w, v: {"include_cluster_authorized_operations": True}, ()),
)

SECURITY_CASES = (
    Case("DescribeAcls", lambda w, v: acl_filter_body(), _on_cluster(_O.DESCRIBE)),
    Case("CreateAcls", create_acl_body, _on_cluster(_O.ALTER)),
    Case("DeleteAcls", lambda w, v: {"filters": [acl_filter_body("User:ghost")]}, _on_cluster(_O.ALTER)),
    Case(
        "DescribeUserScramCredentials",
        lambda w, v: {"users": [{"name": "ghost"}]},
        _on_cluster(_O.DESCRIBE),
    ),
    Case(
        "AlterUserScramCredentials",
        lambda w, v: {"deletions": [{"name": "ghost", "mechanism": 1}], "upsertions": []},
        _on_cluster(_O.ALTER),
    ),
    Case(
        "DescribeClientQuotas",
        lambda w, v: {
            "components": [{"entity_type": "user", "match_type": 2, "match": None}],
            "strict": True,
        },
        _on_cluster(_O.DESCRIBE_CONFIGS),
    ),
    Case("AlterClientQuotas", quota_body, _on_cluster(_O.ALTER_CONFIGS)),
)

TOKEN_CASES = (
    Case("CreateDelegationToken", token_body, label="of one's own", versions=(1, 2)),
    Case("CreateDelegationToken", token_body, label="of somebody else", versions=(3, 99)),
    Case("DescribeDelegationToken", lambda w, v: {"owners": None}),
    Case("DescribeDelegationToken", token_owner_body, label="of somebody else"),
    Case("RenewDelegationToken", lambda w, v: {"hmac": b"ghost", "renew_period_ms": -1}),
    Case("ExpireDelegationToken", lambda w, v: {"hmac": b"ghost", "expiry_time_period_ms": -1}),
)
"""Whoever has logged in may have tokens of their own. Rights on users and tokens are about those of others."""

CASES = (*LOG_CASES, *TOPIC_CASES, *GROUP_CASES, *TXN_CASES, *CONFIG_CASES, *SECURITY_CASES)
"""All but those of delegation tokens."""
