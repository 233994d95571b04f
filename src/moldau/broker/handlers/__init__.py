"""The handlers: one module per API, in one folder per subject.

A handler decodes nothing and owns nothing: it asks the owner of the state and shapes the answer. `HANDLERS`
lists every API that is served. Imported by `node/` and the test kit. Start with a short one, such as
`cluster/describe_cluster.py`; `log/produce.py` and `log/fetch.py` are the hot path.
"""

from typing import Final

from moldau.broker.handlers.acls import create_acls, delete_acls, describe_acls
from moldau.broker.handlers.cluster import (
    api_versions,
    describe_cluster,
    get_telemetry_subscriptions,
    push_telemetry,
)
from moldau.broker.handlers.configs import (
    alter_configs,
    describe_configs,
    incremental_alter_configs,
    list_config_resources,
)
from moldau.broker.handlers.groups import (
    consumer_group_describe,
    consumer_group_heartbeat,
    delete_groups,
    describe_groups,
    explain,
    find_coordinator,
    heartbeat,
    join_group,
    leave_group,
    list_groups,
    offset_commit,
    offset_delete,
    offset_fetch,
    sync_group,
)
from moldau.broker.handlers.log import (
    alter_replica_log_dirs,
    delete_records,
    describe_log_dirs,
    describe_producers,
    fetch,
    list_offsets,
    offset_for_leader_epoch,
    produce,
)
from moldau.broker.handlers.logins import (
    alter_user_scram_credentials,
    create_delegation_token,
    describe_delegation_token,
    describe_user_scram_credentials,
    expire_delegation_token,
    renew_delegation_token,
    sasl_authenticate,
    sasl_handshake,
)
from moldau.broker.handlers.quotas import alter_client_quotas, describe_client_quotas
from moldau.broker.handlers.topics import (
    alter_partition_reassignments,
    create_partitions,
    create_topics,
    delete_topics,
    describe_topic_partitions,
    elect_leaders,
    list_partition_reassignments,
    metadata,
)
from moldau.broker.handlers.transactions import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    describe_transactions,
    end_txn,
    init_producer_id,
    list_transactions,
    txn_offset_commit,
    write_txn_markers,
)

HANDLERS: Final = (
    produce.API,
    fetch.API,
    list_offsets.API,
    metadata.API,
    find_coordinator.API,
    join_group.API,
    sync_group.API,
    heartbeat.API,
    leave_group.API,
    offset_commit.API,
    offset_fetch.API,
    offset_delete.API,
    describe_groups.API,
    list_groups.API,
    delete_groups.API,
    sasl_handshake.API,
    sasl_authenticate.API,
    describe_user_scram_credentials.API,
    alter_user_scram_credentials.API,
    create_delegation_token.API,
    renew_delegation_token.API,
    expire_delegation_token.API,
    describe_delegation_token.API,
    api_versions.API,
    create_topics.API,
    delete_topics.API,
    delete_records.API,
    init_producer_id.API,
    add_partitions_to_txn.API,
    add_offsets_to_txn.API,
    end_txn.API,
    describe_acls.API,
    create_acls.API,
    delete_acls.API,
    write_txn_markers.API,
    txn_offset_commit.API,
    describe_transactions.API,
    list_transactions.API,
    offset_for_leader_epoch.API,
    describe_configs.API,
    alter_configs.API,
    alter_replica_log_dirs.API,
    describe_log_dirs.API,
    create_partitions.API,
    elect_leaders.API,
    alter_partition_reassignments.API,
    list_partition_reassignments.API,
    incremental_alter_configs.API,
    describe_cluster.API,
    describe_producers.API,
    consumer_group_heartbeat.API,
    consumer_group_describe.API,
    get_telemetry_subscriptions.API,
    push_telemetry.API,
    list_config_resources.API,
    describe_client_quotas.API,
    alter_client_quotas.API,
    describe_topic_partitions.API,
    explain.API,
)
