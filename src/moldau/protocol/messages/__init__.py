"""Every API by its key; each has a module of its own here, named after it.

Modules are imported when somebody asks for them: a broker that serves a few APIs starts without the rest.
"""

import importlib
import re
from typing import Final

from moldau.protocol.spec import Request

API_NAMES: Final[dict[int, str]] = {
    0: "Produce",
    1: "Fetch",
    2: "ListOffsets",
    3: "Metadata",
    18: "ApiVersions",
    19: "CreateTopics",
    20: "DeleteTopics",
    21: "DeleteRecords",
    22: "InitProducerId",
    23: "OffsetForLeaderEpoch",
    32: "DescribeConfigs",
    33: "AlterConfigs",
    34: "AlterReplicaLogDirs",
    35: "DescribeLogDirs",
    37: "CreatePartitions",
    44: "IncrementalAlterConfigs",
    60: "DescribeCluster",
    61: "DescribeProducers",
    71: "GetTelemetrySubscriptions",
    72: "PushTelemetry",
    74: "ListConfigResources",
    75: "DescribeTopicPartitions",
}

_requests: Final[dict[int, type[Request]]] = {}


def request_class(api_key: int) -> type[Request] | None:
    """None if there is no such API."""
    if api_key not in _requests and api_key in API_NAMES:
        name = API_NAMES[api_key]
        module = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        _requests[api_key] = getattr(importlib.import_module(f"{__name__}.{module}"), f"{name}Request")
    return _requests.get(api_key)
