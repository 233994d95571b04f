"""Text lines to upper case: TextLinesTopic to UppercasedTextLinesTopic."""

from moldau.pipeline.streams import STRING, StreamsBuilder, Topology


def build() -> Topology:
    builder = StreamsBuilder("upper-case", key=STRING, value=STRING)
    lines = builder.stream("TextLinesTopic")
    lines.map_values(str.upper).to("UppercasedTextLinesTopic")
    return builder.build()
