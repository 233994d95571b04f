"""Kafka's messages: one module per API, in one folder per subject. Anything may import them.

The modules are imported on demand: a process that needs a few APIs does not load the rest. Start with
`log/produce.py` to see a declaration; `request_class` finds a request by its API key.
"""

import importlib
import re
from typing import Final

from moldau.protocol.spec import Request

API_NAMES_BY_FOLDER: Final[dict[str, dict[int, str]]] = {
    "log": {
        0: "Produce",
        1: "Fetch",
        2: "ListOffsets",
        21: "DeleteRecords",
        23: "OffsetForLeaderEpoch",
        34: "AlterReplicaLogDirs",
        35: "DescribeLogDirs",
        61: "DescribeProducers",
    },
    "topics": {
        3: "Metadata",
        19: "CreateTopics",
        20: "DeleteTopics",
        37: "CreatePartitions",
        43: "ElectLeaders",
        45: "AlterPartitionReassignments",
        46: "ListPartitionReassignments",
        75: "DescribeTopicPartitions",
    },
    "cluster": {
        18: "ApiVersions",
        55: "DescribeQuorum",
        57: "UpdateFeatures",
        60: "DescribeCluster",
        64: "UnregisterBroker",
        71: "GetTelemetrySubscriptions",
        72: "PushTelemetry",
    },
    "configs": {
        32: "DescribeConfigs",
        33: "AlterConfigs",
        44: "IncrementalAlterConfigs",
        74: "ListConfigResources",
    },
    "groups": {
        8: "OffsetCommit",
        9: "OffsetFetch",
        10: "FindCoordinator",
        11: "JoinGroup",
        12: "Heartbeat",
        13: "LeaveGroup",
        14: "SyncGroup",
        15: "DescribeGroups",
        16: "ListGroups",
        42: "DeleteGroups",
        47: "OffsetDelete",
        68: "ConsumerGroupHeartbeat",
        69: "ConsumerGroupDescribe",
        88: "StreamsGroupHeartbeat",
        89: "StreamsGroupDescribe",
    },
    "transactions": {
        22: "InitProducerId",
        24: "AddPartitionsToTxn",
        25: "AddOffsetsToTxn",
        26: "EndTxn",
        27: "WriteTxnMarkers",
        28: "TxnOffsetCommit",
        65: "DescribeTransactions",
        66: "ListTransactions",
    },
    "security": {
        17: "SaslHandshake",
        29: "DescribeAcls",
        30: "CreateAcls",
        31: "DeleteAcls",
        36: "SaslAuthenticate",
        38: "CreateDelegationToken",
        39: "RenewDelegationToken",
        40: "ExpireDelegationToken",
        41: "DescribeDelegationToken",
        48: "DescribeClientQuotas",
        49: "AlterClientQuotas",
        50: "DescribeUserScramCredentials",
        51: "AlterUserScramCredentials",
    },
    "share_groups": {
        76: "ShareGroupHeartbeat",
        77: "ShareGroupDescribe",
        78: "ShareFetch",
        79: "ShareAcknowledge",
        90: "DescribeShareGroupOffsets",
        91: "AlterShareGroupOffsets",
        92: "DeleteShareGroupOffsets",
    },
}

API_NAMES: Final = {key: name for names in API_NAMES_BY_FOLDER.values() for key, name in names.items()}

_requests: Final[dict[int, type[Request]]] = {}


def request_class(api_key: int) -> type[Request] | None:
    """None if there is no such API."""
    request = _requests.get(api_key)
    if request is None and api_key in API_NAMES:
        request = _requests[api_key] = _import_request(api_key)
    return request


def _import_request(api_key: int) -> type[Request]:
    name = API_NAMES[api_key]
    folder = next(folder for folder, names in API_NAMES_BY_FOLDER.items() if api_key in names)
    module = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    request: type[Request] = getattr(
        importlib.import_module(f"{__name__}.{folder}.{module}"), f"{name}Request"
    )
    return request
