"""Schemas of a registry, looked up as users name them: `@file`, `id:N`, `subject` or `subject:version`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import click

from moldau.cli.client.registry_http import RegistryHttp
from moldau.cli.failures import Failure
from moldau.cli.formats.schema_files import IDL_SUFFIX, read_schema
from moldau.registry.schemas import InvalidSchema, ParsedSchema, parse

TYPES = {"avro": "AVRO", "protobuf": "PROTOBUF", "json-schema": "JSON"}
_BY_ID = re.compile(r"id:(\d+)")
_BY_VERSION = re.compile(r"(.+):(\d+|latest)")
_KEPT_MAX = 1_000


@dataclass(frozen=True)
class Registered:
    """A registered schema, parsed."""

    id: int
    subject: str
    text: str
    references: tuple[tuple[str, str, int], ...]
    parsed: ParsedSchema


class Schemas:
    """The schemas of one registry, cached."""

    def __init__(self, url: str, timeout_s: float) -> None:
        self.url = url if "://" in url else f"http://{url}"
        self.registry = RegistryHttp(self.url, timeout_s)
        self._by_id = lru_cache(_KEPT_MAX)(self._fetch)
        self._parsed = lru_cache(_KEPT_MAX)(self._parse)

    def by_id(self, schema_id: int) -> Registered:
        return self._by_id(schema_id)

    def _fetch(self, schema_id: int) -> Registered:
        found = self.registry.get("schemas", "ids", schema_id, doing=f"get schema {schema_id}")
        subjects = self.registry.get(
            "schemas", "ids", schema_id, "subjects", doing=f"get the subjects of schema {schema_id}"
        )
        return self._registered(schema_id, subjects[0] if subjects else "", found)

    def chosen(self, told: str | None, kind: str, subject: str) -> Registered:
        """The schema the user names, else the latest version of `subject`."""
        if told is None:
            return self._version(subject, "latest", kind)
        if told.startswith("@"):
            return self._from_file(Path(told[1:]), kind, subject)
        if by_id := _BY_ID.fullmatch(told):
            return self.checked(self.by_id(int(by_id[1])), kind)
        if by_version := _BY_VERSION.fullmatch(told):
            return self._version(by_version[1], by_version[2], kind)
        return self._version(told, "latest", kind)

    def _version(self, subject: str, version: str, kind: str) -> Registered:
        doing = f"get version {version} of subject '{subject}'"
        found = self.registry.get("subjects", subject, "versions", version, doing=doing)
        return self.checked(self._registered(found["id"], subject, found), kind)

    def _from_file(self, path: Path, kind: str, subject: str) -> Registered:
        """Registers the schema if it is new, like serializers."""
        try:
            text = read_schema(str(path)) if path.suffix == IDL_SUFFIX else path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise click.UsageError(f"Cannot read the schema in {path}: {error}.") from error
        self._parse(TYPES[kind], text, ())
        body = {"schema": text, "schemaType": TYPES[kind]}
        found = self.registry.post(
            "subjects", subject, "versions", body=body, doing=f"register {path} under subject '{subject}'"
        )
        return self.by_id(found["id"])

    def _registered(self, schema_id: int, subject: str, found: dict[str, Any]) -> Registered:
        references = tuple(
            (each["name"], each["subject"], each["version"]) for each in found.get("references") or ()
        )
        schema_type = found.get("schemaType", "AVRO")
        parsed = self._parsed(schema_type, found["schema"], references)
        return Registered(schema_id, subject, found["schema"], references, parsed)

    def _parse(self, schema_type: str, text: str, references: Sequence[tuple[str, str, int]]) -> ParsedSchema:
        known: dict[str, ParsedSchema] = {}
        for name, subject, version in references:
            found = self.registry.get(
                "subjects", subject, "versions", version, doing=f"get the reference {name}", deleted=True
            )
            known[name] = self._registered(found["id"], subject, found).parsed
        try:
            return parse(schema_type, text, known, strict=False)
        except InvalidSchema as error:
            hint = "Register it with `moldau schemas register --reference`, and pass its subject."
            raise Failure(str(error), None if known else hint) from error

    @staticmethod
    def checked(found: Registered, kind: str) -> Registered:
        if found.parsed.schema_type != TYPES[kind]:
            right = next(name for name, known in TYPES.items() if known == found.parsed.schema_type)
            raise click.UsageError(f"Schema {found.id} is not {kind}: it is {right}.")
        return found
