"""Payments that look fraudulent: payments to fraudulent-payments. A column expression, so that it can run without Python."""

from moldau.pipeline.streams import JSON, STRING, StreamsBuilder, Topology, col


def build() -> Topology:
    builder = StreamsBuilder("fraud-filter", key=STRING, value=JSON)
    builder.stream("payments").filter(col("fraudProbability") > 0.8).to("fraudulent-payments")
    return builder.build()
