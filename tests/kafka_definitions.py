"""Kafka's own message definitions, which travel in its jars as JSON, and ours, both as comparable values.

Owns how the two forms are brought together field by field. Which declaration belongs to which definition is the
tests' to say.
"""

import json
import re
import zipfile
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from kafka_jars import KafkaJarsUnavailable, kafka_jars
from moldau.protocol.spec import Field, Versions, fields_of

IMPLICIT_DEFAULTS = {
    "bool": False,
    "string": "",
    "bytes": b"",
    "uuid": bytes(16),
    "float64": 0.0,
    "records": None,
}


@cache
def definitions(jar_prefix: str) -> dict[str, dict[str, Any]]:
    """By name, from the jar of that name; the asking test is skipped if there is none."""
    try:
        jar = next(path for path in kafka_jars() if re.match(rf"{jar_prefix}-\d", path.name))
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    except StopIteration:
        pytest.skip(f"no {jar_prefix} jar among Kafka's jars")
    with zipfile.ZipFile(jar) as archive:
        files = [
            name for name in archive.namelist() if re.fullmatch(r"common/(message|metadata)/\w+\.json", name)
        ]
        texts = [archive.read(name).decode() for name in files]
    parsed = [json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)) for text in texts]
    return {definition["name"]: definition for definition in parsed}


def described(cls: type[Any], versions: set[int], path: str = "") -> Iterator[Any]:
    """Our fields, each as one comparable value, nested ones after the one they belong to."""
    for field in fields_of(cls):
        present = {version for version in versions if version in field.versions}
        yield (
            path + field.name,
            ("[]" if field.is_array else "") + (field.of if isinstance(field.of, str) else "structure"),
            sorted(present),
            sorted(version for version in present if version in field.nullable),
            _described_default(field),
            field.tag,
            field.ignorable if present < versions else None,
        )
        if isinstance(field.of, type):
            yield from described(field.of, present, f"{path}{field.name}.")


def defined(definition: dict[str, Any], versions: set[int]) -> Iterator[Any]:
    """Kafka's fields in the same form."""
    common = {structure["name"]: structure["fields"] for structure in definition.get("commonStructs", ())}
    return _defined(definition["fields"], common, versions, "")


def versions_in(text: str) -> set[int]:
    versions = Versions.parse(text)
    return set(range(versions.low, min(versions.high, 100) + 1))


def _described_default(field: Field) -> Any:
    if field.default is None or not isinstance(field.of, type) or field.is_array:
        return field.default
    assert field.default == field.of()
    return "structure"


def _defined(fields: list[Any], common: dict[str, Any], versions: set[int], path: str) -> Iterator[Any]:
    # Whether a field is ignorable means nothing where no version lacks it.
    for field in fields:
        tagged = field.get("taggedVersions")
        present = versions & versions_in(field.get("versions", tagged))
        if not present:
            continue
        assert tagged is None or versions_in(tagged) & versions == present
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", field["name"]).lower()
        of = field["type"].removeprefix("[]")
        is_structure = of[0].isupper()
        yield (
            path + name,
            field["type"].replace(of, "structure") if is_structure else field["type"],
            sorted(present),
            sorted(present & versions_in(field.get("nullableVersions", "none"))),
            _defined_default(field["type"], field.get("default", ""), is_structure),
            field.get("tag"),
            bool(field.get("ignorable", False)) if present < versions else None,
        )
        if is_structure:
            yield from _defined(field.get("fields") or common[of], common, present, f"{path}{name}.")


def _defined_default(of: str, default: Any, is_structure: bool) -> Any:
    if default in ("null", None):
        return None
    if of.startswith("[]"):
        assert default == ""
        return []
    if is_structure:
        return "structure"
    if default == "":
        return IMPLICIT_DEFAULTS.get(of, 0)
    if of == "string":
        return default
    return str(default).lower() == "true" if of == "bool" else int(str(default), 0)
