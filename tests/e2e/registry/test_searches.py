"""Searches: which subjects a prefix finds, how many schemas are returned at once, what aliases add."""

from urllib.parse import quote

import pytest

from compat.server_process import wait_until
from e2e.registry.registry_process import ask
from e2e.registry.schemas import field, record, refusal, register, write
from moldau.testing import LocalCluster, LocalRegistry

A = record("A", field("a"))


@pytest.fixture
def places(url: str, subject: str) -> list[str]:
    """Subjects of three contexts that end in `subject`."""
    found = [f"{subject}-orders", f":.{subject}-north:{subject}-orders", f":.{subject}-south:{subject}-sales"]
    for place in found:
        assert register(url, quote(place, safe=""), A).status == 200
    return found


def subjects(url: str, prefix: str | None) -> list[str]:
    query = "" if prefix is None else f"?subjectPrefix={quote(prefix, safe='')}"
    found: list[str] = ask(url, "GET", f"/subjects{query}").body
    return found


def schemas(url: str, prefix: str | None, query: str = "") -> list[str]:
    told = "" if prefix is None else f"subjectPrefix={quote(prefix, safe='')}"
    return [one["subject"] for one in ask(url, "GET", f"/schemas?{told}{query}").body]


def test_without_a_context_the_default_one_is_searched(url: str, places: list[str]) -> None:
    default, north, south = places
    for found in (subjects(url, ""), schemas(url, ""), schemas(url, None)):
        assert default in found and north not in found and south not in found
    # The subjects of all contexts are listed only without a prefix.
    assert set(places) <= set(subjects(url, None))
    assert set(places) <= set(schemas(url, ":*:"))


def test_what_follows_the_context_counts(url: str, subject: str, places: list[str]) -> None:
    default, north, south = places
    for search in (subjects, schemas):
        assert search(url, f":*:{subject}-o") == sorted([default, north])
        assert search(url, f":*:{subject}-nothing") == []
        assert search(url, f":.{subject}-north:") == [north]
        assert search(url, f":.{subject}-north:{subject}-s") == []
        assert search(url, f":.{subject}-") == [north, south]
        assert search(url, f"{subject}-") == [default]
    assert ask(url, "GET", f"/contexts/{subject}-south/schemas").body[0]["subject"] == south
    assert default in ask(url, "GET", "/contexts/./subjects").body
    assert north not in ask(url, "GET", "/contexts/./subjects").body


def test_a_search_answers_with_a_thousand_schemas_at_most(cluster: LocalCluster, url: str) -> None:
    place = ":.paged:many"
    values = (
        {"version": number, "id": number, "schema": record("A", field(f"f{number}")), "deleted": False}
        for number in range(1, 1_004)
    )
    write(cluster, place, *values)
    wait_until(lambda: ask(url, "GET", f"/subjects/{place}/versions/1003").status == 200, "nothing is read")

    def found(query: str = "") -> list[int]:
        return [one["version"] for one in ask(url, "GET", f"/schemas?subjectPrefix={place}{query}").body]

    assert found() == list(range(1, 1_001))
    assert found("&limit=2") == [1, 2]
    assert found("&offset=2") == list(range(3, 1_003))
    # An invalid limit counts as none.
    assert found("&limit=1001") == found("&limit=0") == found()
    assert len(ask(url, "GET", f"/subjects/{place}/versions").body) == 1_003, "other lists have no limit"


def test_the_settings_of_searches_and_checks(cluster: LocalCluster) -> None:
    settings = {
        "kafkastore.topic": "_schemas_of_settings",
        "schema.registry.group.id": "settings",
        "schema.search.default.limit": "2",
        "schema.search.max.limit": "3",
        "schema.validate.new.schemas": "false",
        "schema.validate.fields": "true",
    }
    with LocalRegistry(cluster.bootstrap_servers, settings) as registry:
        for name in "abcd":
            dashed = record("P", field("a"), namespace="a-b")
            assert register(registry.url, name, dashed).status == 200, "new schemas are not validated"
        assert schemas(registry.url, None) == ["a", "b"]
        assert schemas(registry.url, None, "&limit=3") == ["a", "b", "c"]
        assert schemas(registry.url, None, "&limit=4") == ["a", "b"]
        reserved = {"properties": {"confluent:reserved": "a"}}
        assert refusal(register(registry.url, "e", A, metadata=reserved)) == (409, 409)


def test_aliases_bring_what_they_stand_for(url: str, subject: str) -> None:
    real, alias, other = f"{subject}-real", f"{subject}-alias", f"x-{subject}"
    register(url, real, A)
    register(url, other, A)
    ask(url, "PUT", f"/config/{alias}-1", {"alias": real})
    ask(url, "PUT", f"/config/{alias}-2", {"alias": real})
    ask(url, "PUT", f"/config/{alias}-3", {"alias": other})

    def found(prefix: str, flag: str = "true") -> list[tuple[str, list[str] | None]]:
        answer = ask(url, "GET", f"/schemas?subjectPrefix={prefix}&aliases={flag}").body
        return [(one["subject"], one.get("aliases")) for one in answer]

    assert found(alias) == [(real, [f"{alias}-1", f"{alias}-2"]), (other, [f"{alias}-3"])]
    assert found(alias, "false") == []
    assert found(real) == [(real, None)]
    assert found(f"{subject}-") == [(real, [f"{alias}-1", f"{alias}-2"]), (other, [f"{alias}-3"])]
    # In another context an alias stands for a subject of its own context.
    inner = quote(f":.{subject}:", safe="")
    register(url, f"{inner}{real}", A)
    ask(url, "PUT", f"/config/{inner}{alias}", {"alias": real})
    assert found(f":*:{alias}") == [
        (f":.{subject}:{real}", [f":.{subject}:{alias}"]),
        (real, [f"{alias}-1", f"{alias}-2"]),
        (other, [f"{alias}-3"]),
    ]


@pytest.mark.parametrize("accept", ["*", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"])
def test_a_bare_star_accepts_everything(url: str, accept: str) -> None:
    answer = ask(url, "GET", "/subjects", Accept=accept)
    assert (answer.status, answer.content_type) == (200, "application/vnd.schemaregistry.v1+json")
