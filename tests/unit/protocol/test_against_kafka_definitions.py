"""Every declaration of ours against Kafka's own, which travel in its clients' jar as JSON."""

import json
import re
import zipfile
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from kafka_jars import KafkaJarsUnavailable, kafka_jars
from moldau.protocol.messages import API_NAMES, request_class
from moldau.protocol.spec import Field, Request, Versions, fields_of

pytestmark = pytest.mark.java

# Raft voters and the share coordinator's storage: between brokers and controllers, never from a client of ours.
BROKER_APIS_LEFT_OUT = {
    "AddRaftVoter",
    "RemoveRaftVoter",
    "InitializeShareGroupState",
    "ReadShareGroupState",
    "WriteShareGroupState",
    "DeleteShareGroupState",
    "ReadShareGroupStateSummary",
}
IMPLICIT_DEFAULTS = {
    "bool": False,
    "string": "",
    "bytes": b"",
    "uuid": bytes(16),
    "float64": 0.0,
    "records": None,
}


@cache
def definitions() -> dict[str, dict[str, Any]]:
    try:
        jar = next(path for path in kafka_jars() if path.name.startswith("kafka-clients-"))
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    except StopIteration:
        pytest.skip("no kafka-clients jar among Kafka's jars")
    with zipfile.ZipFile(jar) as archive:
        files = [name for name in archive.namelist() if re.fullmatch(r"common/message/\w+\.json", name)]
        texts = [archive.read(name).decode() for name in files]
    parsed = [json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)) for text in texts]
    return {definition["name"]: definition for definition in parsed}


def valid_versions(request: dict[str, Any]) -> set[int]:
    versions = Versions.parse(request["validVersions"])
    unstable = request.get("latestVersionUnstable", False)
    return set(range(versions.low, versions.high + (0 if unstable else 1)))


def ours(api: str) -> type[Request]:
    request = request_class(next(key for key, name in API_NAMES.items() if name == api))
    assert request is not None
    return request


def test_all_apis_a_client_may_call_are_declared() -> None:
    callable_by_clients = {
        definition["name"].removesuffix("Request"): definition["apiKey"]
        for definition in definitions().values()
        if definition["type"] == "request" and "broker" in definition.get("listeners", ())
    }
    assert callable_by_clients.keys() >= BROKER_APIS_LEFT_OUT
    expected = {key: api for api, key in callable_by_clients.items() if api not in BROKER_APIS_LEFT_OUT}
    assert expected == API_NAMES


@pytest.mark.parametrize("api", API_NAMES.values())
@pytest.mark.parametrize("side", ["Request", "Response"])
def test_declaration(api: str, side: str) -> None:
    request = ours(api)
    cls = request if side == "Request" else request.RESPONSE
    definition = definitions()[f"{api}{side}"]
    assert cls.__name__ == definition["name"]
    assert definition["apiKey"] == cls.API_KEY
    valid = valid_versions(definitions()[f"{api}Request"])
    assert set(range(cls.VERSIONS.low, cls.VERSIONS.high + 1)) == valid
    flexible = Versions.parse(definition["flexibleVersions"])
    assert {v for v in valid if v in cls.FLEXIBLE} == {v for v in valid if v in flexible}
    common = {structure["name"]: structure["fields"] for structure in definition.get("commonStructs", ())}
    assert list(described(cls, valid)) == list(defined(definition["fields"], common, valid))


def described(cls: type[Any], versions: set[int], path: str = "") -> Iterator[Any]:
    """Our fields, each as one comparable value, nested ones after the one they belong to."""
    for field in fields_of(cls):
        present = {version for version in versions if version in field.versions}
        yield (
            path + field.name,
            ("[]" if field.is_array else "") + (field.of if isinstance(field.of, str) else "structure"),
            sorted(present),
            sorted(version for version in present if version in field.nullable),
            described_default(field),
            field.tag,
            field.ignorable if present < versions else None,
        )
        if isinstance(field.of, type):
            yield from described(field.of, present, f"{path}{field.name}.")


def described_default(field: Field) -> Any:
    if field.default is None or not isinstance(field.of, type) or field.is_array:
        return field.default
    assert field.default == field.of()
    return "structure"


def defined(fields: list[Any], common: dict[str, Any], versions: set[int], path: str = "") -> Iterator[Any]:
    """Kafka's fields in the same form. Whether a field is ignorable means nothing where no version lacks it."""
    for field in fields:
        present = versions & versions_in(field["versions"])
        if not present:
            continue
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", field["name"]).lower()
        of = field["type"].removeprefix("[]")
        is_structure = of[0].isupper()
        yield (
            path + name,
            field["type"].replace(of, "structure") if is_structure else field["type"],
            sorted(present),
            sorted(present & versions_in(field.get("nullableVersions", "none"))),
            defined_default(field["type"], field.get("default"), is_structure),
            field.get("tag"),
            bool(field.get("ignorable", False)) if present < versions else None,
        )
        assert field.get("taggedVersions") in (None, field["versions"])
        if is_structure:
            yield from defined(field.get("fields") or common[of], common, present, f"{path}{name}.")


def defined_default(of: str, default: Any, is_structure: bool) -> Any:
    if default == "null":
        return None
    if of.startswith("[]"):
        assert default is None
        return []
    if is_structure:
        return "structure"
    if default is None:
        return IMPLICIT_DEFAULTS.get(of, 0)
    if of == "string":
        return default
    return str(default).lower() == "true" if of == "bool" else int(str(default), 0)


def versions_in(text: str) -> set[int]:
    versions = Versions.parse(text)
    return set(range(versions.low, min(versions.high, 100) + 1))
