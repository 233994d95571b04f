"""The shape of v3's answers: every resource has a kind, a link to itself, and links to what belongs to it."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from moldau.proxies.rest.failures import RestFailure
from moldau.proxies.rest.http.answers import Answer, json_answer
from moldau.proxies.rest.http.call import Call

Json = dict[str, Any]


class Links:
    """Links and names of one cluster."""

    def __init__(self, base_url: str, cluster_id: str) -> None:
        self.cluster_id = cluster_id
        self._url = f"{base_url}/v3/clusters/{quote(cluster_id, safe='')}"

    def url(self, *path: object) -> str:
        return "/".join([self._url, *(quote(str(part), safe=":-") for part in path)])

    def related(self, *path: object) -> Json:
        return {"related": self.url(*path)}

    def resource(self, kind: str, path: Sequence[object], names: str, **fields: Any) -> Json:
        """`names` is the end of its resource name, for example `/topic=orders`."""
        return {
            "kind": kind,
            "metadata": {
                "self": self.url(*path),
                "resource_name": f"crn:///kafka={self.cluster_id}{names}",
            },
            "cluster_id": self.cluster_id,
            **fields,
        }

    def listed(self, kind: str, path: Sequence[object], data: list[Json]) -> Answer:
        return json_answer({"kind": kind, "metadata": {"self": self.url(*path), "next": None}, "data": data})


async def links_of(call: Call) -> Links:
    """Raises RestFailure 404 for another cluster than the proxy's."""
    own = await call.proxy.cluster.id()
    asked = call.parameters["cluster_id"]
    if asked != own:
        raise RestFailure(404, f"Cluster {asked} cannot be found. This proxy serves cluster {own}.")
    return Links(call.base_url, own)


def missing(what: str) -> RestFailure:
    return RestFailure(404, f"HTTP 404 Not Found: {what} does not exist.")
