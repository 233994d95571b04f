"""Paths, content types and query parameters, without a server."""

import pytest

from moldau.registry.http.app import ROUTES
from moldau.registry.http.call import parse_version
from moldau.registry.http.negotiation import V1, check_content_type, choose_content_type
from moldau.registry.http.routing import Router, in_context, split_path
from moldau.registry.subjects import has_prefix
from registry_kit import refused


def test_a_path_is_split_before_it_is_decoded() -> None:
    assert split_path(b"/subjects/a%2Fb%20c/versions?x=1") == ["subjects", "a/b c", "versions"]
    assert split_path(b"/") == []
    assert split_path(b"/subjects/") == ["subjects"]


@pytest.mark.parametrize(
    ("path", "rewritten"),
    [
        ("contexts/x/subjects/a/versions", "subjects/:.x:a/versions"),
        ("contexts/.x/subjects/a", "subjects/:.x:a"),
        ("contexts/:.x:/subjects/a", "subjects/:.x:a"),
        ("contexts/x/subjects/:.y:a", "subjects/:.y:a"),
        ("contexts/./subjects/a", "subjects/a"),
        ("contexts/x/compatibility/subjects/a/versions", "compatibility/subjects/:.x:a/versions"),
        ("contexts/x/config", "config/:.x:"),
        ("contexts/x/mode/a", "mode/:.x:a"),
        ("contexts/./config", "config"),
        ("contexts/x", "contexts/x"),
        ("subjects/a", "subjects/a"),
    ],
)
def test_a_context_before_a_path_goes_into_the_subject(path: str, rewritten: str) -> None:
    assert "/".join(in_context(path.split("/"), {})[0]) == rewritten


def test_a_context_before_a_list_or_an_id_goes_into_the_query() -> None:
    assert in_context(["contexts", "x", "subjects"], {})[1] == {"subjectPrefix": ":.x:"}
    assert in_context(["contexts", "x", "schemas"], {"subjectPrefix": "a"})[1] == {"subjectPrefix": ":.x:a"}
    assert in_context(["contexts", "x", "schemas", "ids", "1"], {})[1] == {"subject": ":.x:"}
    with refused(400):
        in_context(["contexts", "a:b", "subjects"], {})


def test_unknown_paths_and_methods() -> None:
    router = Router(ROUTES)
    assert router.find("GET", ["subjects", "a", "versions", "1"]).parameters == {
        "subject": "a",
        "version": "1",
    }
    assert router.find("HEAD", ["subjects"]).parameters == {}
    with refused(404):
        router.find("GET", ["subject"])
    with refused(405):
        router.find("PUT", ["subjects"])


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, V1),
        ("", V1),
        ("*/*", V1),
        ("*", V1),
        ("*; q=.2, application/json", "application/json"),
        ("application/json", "application/json"),
        ("application/*", V1),
        ("text/html, application/json;q=0.5", "application/json"),
        (
            "application/vnd.schemaregistry+json, application/json; q=0.5",
            "application/vnd.schemaregistry+json",
        ),
        (
            "application/vnd.schemaregistry.v1+json,application/vnd.schemaregistry+json, application/json",
            V1,
        ),
        ("*/*;q=0.1, application/json", "application/json"),
    ],
)
def test_the_answer_has_the_type_the_client_likes_best(accept: str | None, chosen: str) -> None:
    assert choose_content_type(accept) == chosen


@pytest.mark.parametrize("accept", ["text/html", "application/json;q=0", "application/json;q=x"])
def test_a_type_that_is_not_there_is_406(accept: str) -> None:
    with refused(406):
        choose_content_type(accept)


def test_only_json_is_read() -> None:
    for fine in (None, V1, "application/json; charset=utf-8", "application/octet-stream"):
        check_content_type(fine)
    for wrong in ("text/plain", "application/xml", "application/x-www-form-urlencoded"):
        with refused(415):
            check_content_type(wrong)


@pytest.mark.parametrize(
    ("text", "version"), [("1", 1), ("latest", -1), ("LATEST", -1), ("-1", -1), (" 7 ", 7)]
)
def test_versions(text: str, version: int) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize("text", ["0", "-2", "x", "", "1.5", "99999999999", "²"])
def test_wrong_versions_are_42202(text: str) -> None:
    with refused(42202):
        parse_version(text)


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("", ["ab", "b"]),
        ("a", ["ab"]),
        (":*:", ["ab", "b", ":.x:ab", ":.xy:b"]),
        (":*:a", ["ab", ":.x:ab"]),
        (":.x:", [":.x:ab"]),
        (":.x:b", []),
        (":.x", [":.x:ab", ":.xy:b"]),
        (":.", ["ab", "b", ":.x:ab", ":.xy:b"]),
        (":.:", ["ab", "b"]),
    ],
)
def test_what_a_prefix_finds(prefix: str, found: list[str]) -> None:
    subjects = ["ab", "b", ":.x:ab", ":.xy:b"]
    assert [subject for subject in subjects if has_prefix(subject, prefix)] == found
