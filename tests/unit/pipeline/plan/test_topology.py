"""The plan: sub-topologies, descriptions, graphs and fingerprints."""

from moldau.pipeline.streams import LONG, STRING, StreamsBuilder, Topology, col, tumbling


def word_count(window_ms: int = 10, *, name: str = "words") -> Topology:
    builder = StreamsBuilder("app", value=STRING)
    words = builder.stream("lines").flat_map_values(str.split)
    counts = (
        words.group_by(lambda key, word: word, name=name).windowed_by(tumbling(window_ms)).count(store="n")
    )
    counts.to_stream(lambda windowed, count: windowed.key).to("out", value=LONG)
    return builder.build()


def test_cut_at_the_repartition_topic() -> None:
    first, second = word_count().sub_topologies
    assert (first.source_topics, first.sink_topics) == (("lines",), ("app-words-repartition",))
    assert (second.source_topics, second.sink_topics) == (("app-words-repartition",), ("out",))
    assert [store.name for store in second.stores] == ["n"]
    assert not first.is_stateful


def test_unconnected_statements_are_further_sub_topologies() -> None:
    builder = StreamsBuilder()
    builder.stream("a").filter(col("x") > 1).to("b")
    builder.stream("c").filter(col("x") > 2).to("d")
    assert [part.source_topics for part in builder.build().sub_topologies] == [("a",), ("c",)]


def test_a_lookup_binds_the_stream_to_its_table() -> None:
    builder = StreamsBuilder()
    table = builder.table("prices")
    builder.stream("orders").join(table, lambda order, price: order).to("out")
    [part] = builder.build().sub_topologies
    assert set(part.source_topics) == {"prices", "orders"}


def test_a_global_table_belongs_to_no_sub_topology() -> None:
    builder = StreamsBuilder()
    table = builder.global_table("prices")
    builder.stream("orders").join(table, lambda order, price: order, on=lambda key, value: key).to("out")
    topology = builder.build()
    [part] = topology.sub_topologies
    assert part.source_topics == ("orders",)
    assert [one.topic for one in topology.globals_of(part)] == ["prices"]
    assert topology.source_topics == ("orders", "prices")


def test_described_like_kafkas() -> None:
    text = word_count().describe()
    assert text.startswith(
        "Topologies:\n   Sub-topology: 0\n    Source: KSTREAM-SOURCE-0000000000 (topics: [lines])\n"
    )
    assert "stores: [n], windows: tumbling(10 ms, grace 0 ms)" in text
    assert "Sink: KSTREAM-SINK" in text


def test_graphs() -> None:
    topology = word_count()
    assert topology.graph().startswith("flowchart TD\n")
    assert "app-words-repartition" in topology.graph()
    assert topology.graph("dot").startswith("digraph topology {")


def test_the_fingerprint_is_of_what_the_topology_is() -> None:
    assert word_count().fingerprint == word_count().fingerprint
    assert word_count(window_ms=20).fingerprint != word_count().fingerprint
    assert word_count(name="other").fingerprint != word_count().fingerprint


def test_expressions_count_in_the_fingerprint() -> None:
    def filtered(limit: float) -> str:
        builder = StreamsBuilder()
        builder.stream("a").filter(col("x") > limit).to("b")
        return builder.build().fingerprint

    assert filtered(0.5) == filtered(0.5) != filtered(0.6)
