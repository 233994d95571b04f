"""How often each word has come: TextLinesTopic to WordsWithCountsTopic, counts also in the store "Counts"."""

import re

from moldau.pipeline.streams import STRING, StreamsBuilder, Topology


def words(line: str) -> list[str]:
    return [word for word in re.split(r"\W+", line.lower()) if word]


def build() -> Topology:
    builder = StreamsBuilder("word-count", key=STRING, value=STRING)
    (
        builder.stream("TextLinesTopic")
        .flat_map_values(words)
        .group_by(lambda key, word: word)
        .count(store="Counts")
        .to_stream()
        .to("WordsWithCountsTopic")
    )
    return builder.build()
