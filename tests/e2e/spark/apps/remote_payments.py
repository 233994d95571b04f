"""Passes on the large ones: `remote-payments` to `remote-large`."""

from moldau.pipeline.streams import JSON, STRING, Guarantee, StreamsBuilder, Topology, col


def build() -> Topology:
    builder = StreamsBuilder("remote-payments", key=STRING, value=JSON)
    builder.stream("remote-payments").filter(col("amount") > 5).to("remote-large")
    return builder.build(guarantee=Guarantee.AT_LEAST_ONCE)
