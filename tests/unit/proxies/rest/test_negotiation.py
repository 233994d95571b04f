"""Which content types are taken and which are answered."""

import pytest

from moldau.proxies.rest.failures import RestFailure
from moldau.proxies.rest.http.answers import JSON, V2
from moldau.proxies.rest.http.negotiation import PRODUCED, check_json, choose, embedded_format
from moldau.proxies.rest.http.routing import Route, Router, parameter_names
from moldau.proxies.rest.pages.openapi import describe
from moldau.proxies.rest.pages.schemas import SCHEMAS
from moldau.proxies.rest.tables import ROUTES


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, V2),
        ("", V2),
        ("*/*", V2),
        ("application/json", JSON),
        ("text/html, application/json;q=0.9, */*;q=0.1", JSON),
        ("application/vnd.kafka.v2+json; q=0.5, application/json", JSON),
        ("application/*", V2),
        ("application/json;q=zero, */*", V2),
    ],
)
def test_the_answer_has_the_type_with_the_highest_weight(accept: str | None, chosen: str) -> None:
    assert choose(accept, PRODUCED) == chosen


def test_no_type_in_common_is_406() -> None:
    with pytest.raises(RestFailure, match="Available"):
        choose("image/png, application/json;q=0", ("application/json",))


def test_the_content_type_names_the_format() -> None:
    assert embedded_format("application/vnd.kafka.avro.v2+json; charset=utf-8") == "avro"
    # Of version 1, where bytes are what is meant when nothing else is said.
    assert embedded_format("application/vnd.kafka.avro.v1+json") == "avro"
    assert embedded_format("application/vnd.kafka.v1+json") == "binary"
    for wrong in (None, "application/json", "text/plain"):
        with pytest.raises(RestFailure) as caught:
            embedded_format(wrong)
        assert caught.value.status == 415
    check_json("application/json; charset=utf-8")
    with pytest.raises(RestFailure):
        check_json("text/xml")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_route_is_found_and_described(route: Route) -> None:
    path = route.path
    for name in parameter_names(route):
        path = path.replace(f"{{{name}}}", "7%2F7")
    match = Router(ROUTES).find(route.method, path.encode())
    assert match.route is route
    assert set(match.parameters.values()) <= {"7/7"}
    described = describe(ROUTES)["paths"].get(route.path, {})
    assert (route.method.lower() in described) is not route.hidden
    assert {route.body, route.answer} - {None} <= SCHEMAS.keys()


def test_a_path_is_split_before_it_is_decoded() -> None:
    match = Router(ROUTES).find("GET", b"/consumers/a%2Fb/instances/c/records?timeout=1")
    assert match.parameters == {"group": "a/b", "instance": "c"}
