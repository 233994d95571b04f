"""The nodes of a topology: each operator as frozen data.

A node names its parents. A node with several inputs (merge, joins) has them in the order of `parents`. Functions of the
user are fields, and so are column expressions, which a host may compile to something faster than Python. A *stream*
edge carries records, a *table* edge carries changes (new and old value of a key).

Each module has the nodes of one kind, on `node.py`. Others import the nodes from here.
"""

from moldau.pipeline.plan.nodes.aggregates import (
    Aggregate,
    EmitWhen,
    SessionAggregate,
    WindowAggregate,
)
from moldau.pipeline.plan.nodes.joins import (
    ForeignKeyAnswer,
    ForeignKeyResolve,
    ForeignKeySubscribe,
    StreamGlobalJoin,
    StreamJoin,
    StreamTableJoin,
    TableJoin,
)
from moldau.pipeline.plan.nodes.node import (
    Function,
    JoinKind,
    Node,
    Rule,
    StoringNode,
)
from moldau.pipeline.plan.nodes.streams import (
    Arm,
    Filter,
    FlatMap,
    FlatMapValues,
    Map,
    MapValues,
    Merge,
    OffsetReset,
    Peek,
    Process,
    RepartitionTopic,
    SelectKey,
    Sink,
    Source,
    Split,
    has_key,
    unresolved,
)
from moldau.pipeline.plan.nodes.tables import (
    GlobalTable,
    Nodes,
    Suppress,
    TableAggregate,
    TableFilter,
    TableGroup,
    TableMapValues,
    TableMerge,
    TableNode,
    TableSource,
    TableToStream,
    TableTransformValues,
    history_of,
)
from moldau.pipeline.plan.nodes.transforms import TRANSFORM_IN, TRANSFORM_OUT, Transform, transforms_of

__all__ = [
    "TRANSFORM_IN",
    "TRANSFORM_OUT",
    "Aggregate",
    "Arm",
    "EmitWhen",
    "Filter",
    "FlatMap",
    "FlatMapValues",
    "ForeignKeyAnswer",
    "ForeignKeyResolve",
    "ForeignKeySubscribe",
    "Function",
    "GlobalTable",
    "JoinKind",
    "Map",
    "MapValues",
    "Merge",
    "Node",
    "Nodes",
    "OffsetReset",
    "Peek",
    "Process",
    "RepartitionTopic",
    "Rule",
    "SelectKey",
    "SessionAggregate",
    "Sink",
    "Source",
    "Split",
    "StoringNode",
    "StreamGlobalJoin",
    "StreamJoin",
    "StreamTableJoin",
    "Suppress",
    "TableAggregate",
    "TableFilter",
    "TableGroup",
    "TableJoin",
    "TableMapValues",
    "TableMerge",
    "TableNode",
    "TableSource",
    "TableToStream",
    "TableTransformValues",
    "Transform",
    "WindowAggregate",
    "has_key",
    "history_of",
    "transforms_of",
    "unresolved",
]
