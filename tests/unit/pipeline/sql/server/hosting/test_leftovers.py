"""The internal topics of a query that has ended."""

from moldau.pipeline.sql.server.hosting.leftovers import internal_topics

TOPICS = [
    "app_1-counts-changelog",
    "app_1-by-id-repartition",
    "app_1-notes",
    "app_12-counts-changelog",
    "app_1-b_3-counts-changelog",
    "orders",
]


def test_only_the_applications_own_topics() -> None:
    assert internal_topics("app_1", TOPICS, ["app_12", "app_1-b_3"]) == [
        "app_1-by-id-repartition",
        "app_1-counts-changelog",
    ]
    assert internal_topics("app_2", TOPICS) == []
