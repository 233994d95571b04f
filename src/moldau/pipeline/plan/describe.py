"""A topology as text like Kafka's TopologyDescription, as a graph, and as a hash for comparison."""

import dataclasses
import hashlib
from collections.abc import Iterator
from typing import Any

from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import GlobalTable, Node, Sink, Source
from moldau.pipeline.plan.topology import Topology


def text(topology: Topology) -> str:
    """The sub-topologies with their nodes, edges and stores."""
    lines = ["Topologies:"]
    for part in topology.sub_topologies:
        lines.append(f"   Sub-topology: {part.index}")
        lines += _lines_of(topology, part.nodes)
    for table in topology.global_tables:
        lines.append("   Sub-topology for global-store (will not generate tasks)")
        lines += _lines_of(topology, (table,))
    return "\n".join(lines) + "\n"


def mermaid(topology: Topology) -> str:
    lines = ["flowchart TD"]
    lines += [f"  {start} --> {end}" for start, end in _edges(topology, '{0}["{1}"]', "{0}[({1})]")]
    return "\n".join(lines) + "\n"


def dot(topology: Topology) -> str:
    lines = ["digraph topology {"]
    lines += [f'  "{name}" [label="{label}"];' for name, label in _labels(topology)]
    lines += [f'  "{start}" -> "{end}";' for start, end in _bare_edges(topology)]
    return "\n".join([*lines, "}"]) + "\n"


def fingerprint(topology: Topology) -> str:
    digest = hashlib.sha256()
    for node in topology.nodes:
        digest.update(repr(_shape(node)).encode())
    digest.update(repr(topology.repartition_topics).encode())
    return digest.hexdigest()[:16]


def _lines_of(topology: Topology, nodes: tuple[Node, ...]) -> Iterator[str]:
    children = _children(topology)
    for node in nodes:
        yield f"    {_heading(node)}"
        following = children.get(node.name, [])
        if not isinstance(node, Sink):
            yield f"      --> {', '.join(following) or 'none'}"
        if node.parents:
            yield f"      <-- {', '.join(node.parents)}"


def _heading(node: Node) -> str:
    stores = ", ".join(store.name for store in node.stores())
    match node:
        case Source():
            return f"Source: {node.name} (topics: [{', '.join(node.topics)}])"
        case GlobalTable():
            return f"Source: {node.name} (topics: [{node.topic}], stores: [{stores}])"
        case Sink():
            return f"Sink: {node.name} (topic: {node.topic or 'chosen per record'})"
    windows = getattr(node, "windows", None)
    details = f", windows: {windows}" if windows else ""
    return f"Processor: {node.name} ({node.label}, stores: [{', '.join(node.store_names())}]{details})"


def _children(topology: Topology) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for node in topology.nodes:
        for parent in node.parents:
            children.setdefault(parent, []).append(node.name)
    return children


def _bare_edges(topology: Topology) -> Iterator[tuple[str, str]]:
    for node in topology.nodes:
        for parent in node.parents:
            yield parent, node.name
        match node:
            case Source():
                yield from ((topic, node.name) for topic in node.topics)
            case GlobalTable():
                yield node.topic, node.name
            case Sink(topic=str(topic)):
                yield node.name, topic
        table = getattr(node, "table", None)
        if table is not None:
            yield table, node.name


def _labels(topology: Topology) -> Iterator[tuple[str, str]]:
    for node in topology.nodes:
        yield node.name, f"{node.label}\\n{node.name}"


def _edges(topology: Topology, node_form: str, topic_form: str) -> Iterator[tuple[str, str]]:
    def shown(name: str) -> str:
        if name in topology:
            return node_form.format(name, f"{topology[name].label}<br/>{name}")
        return topic_form.format("topic_" + "".join(c if c.isalnum() else "_" for c in name), name)

    for start, end in _bare_edges(topology):
        yield shown(start), shown(end)


def _shape(value: Any) -> Any:
    """The parts of a node that decide whether state fits: everything except the user's functions and lines."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not isinstance(value, Expression):
        left_out = {"where", "pattern"} if isinstance(value, Source) and not value.pattern else {"where"}
        if isinstance(value, Source) and value.pattern:
            left_out.add("topics")  # a topic may come to match later
        fields = (
            (f.name, getattr(value, f.name)) for f in dataclasses.fields(value) if f.name not in left_out
        )
        return (type(value).__name__, [(name, _shape(of)) for name, of in fields])
    if isinstance(value, Expression):
        return str(value)
    if isinstance(value, tuple):
        return [_shape(one) for one in value]
    return "function" if callable(value) else repr(value)
