"""Payments that look fraudulent: payments to fraudulent-payments, by a column expression."""

from moldau.pipeline.streams import JSON, STRING, StreamsBuilder, Topology, col


def build() -> Topology:
    builder = StreamsBuilder("fraud-filter", key=STRING, value=JSON)
    builder.stream("payments").filter(col("fraudProbability") > 0.8).to("fraudulent-payments")
    return builder.build()
