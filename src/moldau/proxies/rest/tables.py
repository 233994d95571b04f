"""All routes of the proxy."""

from typing import Final

from moldau.proxies.rest.extras import events, many_topics, upkeep
from moldau.proxies.rest.http.routing import Route
from moldau.proxies.rest.v2 import consumer_handlers, produce_handlers, topic_handlers
from moldau.proxies.rest.v3 import acls, clusters, configs, groups, reassignments, record_stream, topics

ROUTES: Final[list[Route]] = [
    *topic_handlers.ROUTES,
    *produce_handlers.ROUTES,
    *consumer_handlers.ROUTES,
    *clusters.ROUTES,
    *topics.ROUTES,
    *configs.ROUTES,
    *reassignments.ROUTES,
    *groups.ROUTES,
    *acls.ROUTES,
    *record_stream.ROUTES,
    *many_topics.ROUTES,
    *events.ROUTES,
    *upkeep.ROUTES,
]
