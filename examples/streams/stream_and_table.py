"""The same records read as a stream and as a table: ('apple', 1), ('apple', 5) add up to 6, but the table says 5."""

from moldau.pipeline.streams import LONG, STRING, StreamsBuilder, Topology


def build() -> Topology:
    builder = StreamsBuilder("stream-and-table", key=STRING, value=LONG)
    fruit = builder.stream("fruit")
    fruit.group_by_key().reduce(lambda total, count: total + count, store="as-stream").to_stream().to(
        "totals"
    )
    fruit.to_table(store="as-table").to_stream().to("latest")
    return builder.build()
