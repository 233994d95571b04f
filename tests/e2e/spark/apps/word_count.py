"""Counts words: `cluster-lines` to `cluster-counts`."""

from moldau.pipeline.streams import LONG, STRING, StreamsBuilder

builder = StreamsBuilder("cluster", key=STRING, value=STRING)
words = builder.stream("cluster-lines").flat_map_values(lambda line: line.lower().split())
counts = words.group_by(lambda _, word: word, key=STRING).count(store="counts")
counts.to_stream().to("cluster-counts", value=LONG)
