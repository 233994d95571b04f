"""The Streams API: Kafka Streams' API in Python. Users import everything from here.

`builder.py` (StreamsBuilder) creates streams and tables; their methods add nodes to a `Draft`, and `build()` turns that
into a `Topology`. Start reading at `stream.py` and `draft.py`. Imported by applications, the test driver and `spark`.
"""

from moldau.pipeline.operators.processors import ProcessorContext, Record
from moldau.pipeline.operators.timers import PunctuationType
from moldau.pipeline.plan.expressions import call, col, key, lit, struct, timestamp
from moldau.pipeline.plan.handlers import ErrorContext, ErrorHandlers
from moldau.pipeline.plan.nodes import OffsetReset
from moldau.pipeline.plan.topology import Guarantee, Topology
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
from moldau.pipeline.serdes import BOOLEAN, BYTES, DOUBLE, FLOAT, INT, JSON, LONG, SHORT, STRING, Serde
from moldau.pipeline.streams.builder import StreamsBuilder
from moldau.pipeline.streams.global_table import GlobalKTable
from moldau.pipeline.streams.grouped import KGroupedStream
from moldau.pipeline.streams.stream import KStream
from moldau.pipeline.streams.table import KTable
from moldau.pipeline.streams.topology_builder import TopologyBuilder

__all__ = [
    "BOOLEAN",
    "BYTES",
    "DOUBLE",
    "FLOAT",
    "INT",
    "JSON",
    "LONG",
    "SHORT",
    "STRING",
    "ErrorContext",
    "ErrorHandlers",
    "GlobalKTable",
    "Guarantee",
    "JoinWindows",
    "KGroupedStream",
    "KStream",
    "KTable",
    "OffsetReset",
    "ProcessorContext",
    "PunctuationType",
    "Record",
    "Serde",
    "SessionWindows",
    "SlidingWindows",
    "StreamsBuilder",
    "TimeWindows",
    "Topology",
    "TopologyBuilder",
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
