"""The description of a pipeline as pure, frozen, printable data: a `Topology` of `nodes`.

Imported by everything in `pipeline`; imports nothing of it but the serdes. Start reading at `topology.py`."""

from moldau.pipeline.plan.expressions import Expression, call, col, key, lit, struct, timestamp
from moldau.pipeline.plan.nodes import JoinKind, Node, OffsetReset
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.plan.topology import Guarantee, SubTopology, Topology
from moldau.pipeline.plan.windows import (
    JoinWindows,
    SessionWindows,
    SlidingWindows,
    TimeWindows,
    Windowed,
    hopping,
    sessions,
    sliding,
    tumbling,
    within,
)

__all__ = [
    "Expression",
    "Guarantee",
    "JoinKind",
    "JoinWindows",
    "Node",
    "OffsetReset",
    "SessionWindows",
    "SlidingWindows",
    "StoreKind",
    "StoreSpec",
    "SubTopology",
    "TimeWindows",
    "Topology",
    "Windowed",
    "call",
    "col",
    "hopping",
    "key",
    "lit",
    "sessions",
    "sliding",
    "struct",
    "timestamp",
    "tumbling",
    "within",
]
