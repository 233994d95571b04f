"""All routes of the proxy."""

from typing import Final

from moldau.proxies.rest.http.routing import Route
from moldau.proxies.rest.v2 import consumer_handlers, produce_handlers, topic_handlers

ROUTES: Final[list[Route]] = [
    *topic_handlers.ROUTES,
    *produce_handlers.ROUTES,
    *consumer_handlers.ROUTES,
]
