"""What operators and curious people ask: metrics, health, the description of the API, and a page to try it."""

from functools import cache
from typing import Final

import orjson

from moldau.proxies.rest.http.answers import JSON, Answer, json_answer
from moldau.proxies.rest.http.call import Call
from moldau.proxies.rest.http.routing import Route
from moldau.proxies.rest.metrics import CONTENT_TYPE


async def metrics(call: Call) -> Answer:
    return Answer(call.proxy.metrics.text().encode(), content_type=CONTENT_TYPE)


async def health(call: Call) -> Answer:
    """Fails when Kafka does not answer, so that a load balancer goes elsewhere. Asks nobody for a login."""
    if not call.proxy.has_own_login:
        await call.proxy.reach()
        return json_answer({"status": "ok", "cluster_id": None})
    return json_answer({"status": "ok", "cluster_id": (await call.proxy.cluster.describe()).cluster_id})


async def openapi(call: Call) -> Answer:
    return Answer(_description(), content_type=JSON)


async def page(call: Call) -> Answer:
    from moldau.proxies.rest.pages.try_page import PAGE

    return Answer(PAGE.encode(), content_type="text/html; charset=utf-8")


@cache
def _description() -> bytes:
    # Imported here because the table of routes imports this module.
    from moldau.proxies.rest.pages.openapi import describe
    from moldau.proxies.rest.tables import ROUTES as ALL

    return orjson.dumps(describe(ALL))


ROUTES: Final = [
    Route("GET", "/metrics", metrics, "Counters in Prometheus' format", answer="Text"),
    Route("GET", "/health", health, "Whether Kafka answers", answer="Health"),
    Route("GET", "/openapi.json", openapi, "The description of this API", answer="AnyObject"),
    Route("GET", "/try", page, "A page that lets one try the API", answer="Page"),
]
