"""Page views per user in 5-minute windows: pageviews to pageviews-per-user, also in the store "views-per-user"."""

from moldau.pipeline.streams import JSON, LONG, STRING, StreamsBuilder, Topology, col, tumbling

FIVE_MINUTES_MS = 5 * 60 * 1000


def build() -> Topology:
    builder = StreamsBuilder("page-views", key=STRING, value=JSON)
    (
        builder.stream("pageviews", timestamp="viewtime")
        .group_by(col("user_id"))
        .windowed_by(tumbling(FIVE_MINUTES_MS))
        .count(store="views-per-user")
        .to_stream(lambda windowed, count: f"{windowed.key}@{windowed.start_ms}", key=STRING)
        .to("pageviews-per-user", value=LONG)
    )
    return builder.build()
