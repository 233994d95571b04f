"""Joins page views with their users, and counts them by page in windows of a minute."""

from moldau.pipeline.streams import JSON, LONG, STRING, StreamsBuilder, tumbling

builder = StreamsBuilder("demo", key=STRING, value=JSON)

users = builder.table("users")
enriched = builder.stream("pageviews").join(users, lambda view, user: {**view, "region": user["region"]})
enriched.to("pageviews-enriched")

by_page = enriched.group_by(lambda _, view: view["page"], key=STRING)
counts = by_page.windowed_by(tumbling(60_000, grace_ms=10_000)).count(store="views-per-page")
counts.to_stream().to("pageviews-per-page", value=LONG)
