"""Paths of Confluent's API that Kafka's client library gives no way to serve. They say what to do instead."""

from collections.abc import Awaitable, Callable
from typing import Final

from moldau.proxies.rest.failures import RestFailure
from moldau.proxies.rest.http.answers import Answer
from moldau.proxies.rest.http.call import Call
from moldau.proxies.rest.http.routing import Route

CLUSTER: Final = "/v3/clusters/{cluster_id}"


def refusing(words: str) -> Callable[[Call], Awaitable[Answer]]:
    async def handle(call: Call) -> Answer:
        raise RestFailure(404, f"HTTP 404 Not Found: {words}")

    return handle


CONFIGS: Final = refusing(
    "this proxy does not serve the settings of all brokers together, because Kafka's client library cannot ask for "
    "them. Use /brokers/{broker_id}/configs, or `moldau configs`."
)
REASSIGNMENTS: Final = refusing(
    "this proxy does not serve reassignments, because Kafka's client library cannot ask for them. Use `moldau "
    "partitions`."
)
ROUTES: Final = [
    Route(method, f"{CLUSTER}{path}", handler, "Not served", hidden=True)
    for path, handler, methods in (
        ("/broker-configs", CONFIGS, ("GET",)),
        ("/broker-configs:alter", CONFIGS, ("POST",)),
        ("/broker-configs/{name}", CONFIGS, ("GET", "PUT", "DELETE")),
        ("/topics/-/partitions/-/reassignment", REASSIGNMENTS, ("GET",)),
        ("/topics/{topic_name}/partitions/-/reassignment", REASSIGNMENTS, ("GET",)),
        ("/topics/{topic_name}/partitions/{partition_id}/reassignment", REASSIGNMENTS, ("GET",)),
    )
    for method in methods
]
