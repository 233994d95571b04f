"""A registry without Kafka: decided facts go to a list of records and are replayed from there."""

import json
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

from moldau.registry.decisions.decision import Decision
from moldau.registry.decisions.deletion import Deletion
from moldau.registry.decisions.governance import Governance
from moldau.registry.decisions.registration import Registration
from moldau.registry.decisions.schema_parser import SchemaParser
from moldau.registry.decisions.scope import Scope
from moldau.registry.entities import SchemaRequest, StoredSchema
from moldau.registry.failures import RegistryFailure
from moldau.registry.log.records import decode, encode
from moldau.registry.schemas import Clash
from moldau.registry.state import RegistryState

Answer = TypeVar("Answer")
Record = tuple[bytes, bytes | None]


class Ledger:
    def __init__(self, records: Iterable[Record] = (), *, level: str = "BACKWARD") -> None:
        self.records: list[Record] = []
        self.state = RegistryState()
        self.scope = Scope(self.state, level)
        self.registration = Registration(self.state, self.scope, SchemaParser(self.state))
        self.deletion = Deletion(self.state, self.scope)
        self.governance = Governance(self.state, self.scope)
        for record in records:
            self.write(record)

    def write(self, record: Record) -> None:
        self.records.append(record)
        self.state.replay(decode(*record))

    def apply(self, decision: Decision[Answer]) -> Answer:
        for fact in decision.facts:
            self.write(encode(fact))
        return decision.answer

    def register(self, subject: str, schema: object, **options: Any) -> StoredSchema:
        """`schema` is the text, or a value to encode. Options are the request's fields and the query's flags."""
        flags = {name: options.pop(name) for name in ("normalize", "force") if name in options}
        return self.apply(self.registration.decide_register(subject, request(schema, **options), **flags))

    def find(self, subject: str, schema: object, **options: Any) -> StoredSchema | None:
        flags = {name: options.pop(name) for name in ("normalize", "deleted") if name in options}
        return self.registration.lookup.find(subject, request(schema, **options).schema, **flags)

    def clashes(self, subject: str, schema: object, version: int | None) -> list[Clash]:
        return self.registration.evolution.test(subject, request(schema), version).clashes

    def delete(self, subject: str, version: int | None = None, *, permanent: bool = False) -> object:
        if version is None:
            return self.apply(self.deletion.decide_delete_subject(subject, permanent=permanent))
        return self.apply(self.deletion.decide_delete_version(subject, version, permanent=permanent))

    def set_mode(self, subject: str | None, mode: str, *, force: bool = False) -> object:
        return self.apply(self.governance.decide_mode(subject, {"mode": mode}, force=force))

    def set_config(self, subject: str | None, **fields: object) -> object:
        return self.apply(self.governance.decide_config(subject, fields))

    def compacted(self) -> list[Record]:
        """The records that are left after Kafka has compacted all of them."""
        last = {key: place for place, (key, _) in enumerate(self.records)}
        return [
            record
            for place, record in enumerate(self.records)
            if last[record[0]] == place and record[1] is not None
        ]


def refused(code: int) -> "pytest.RaisesExc[RegistryFailure]":
    return pytest.raises(RegistryFailure, check=lambda failure: failure.code == code)


def request(schema: object, **fields: Any) -> SchemaRequest:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return SchemaRequest.parse({"schema": text, **fields})


def record(name: str, *fields: str, **types: object) -> dict[str, object]:
    """An Avro record. Fields without a type are strings; those that end with = have a default."""
    described: list[dict[str, object]] = []
    for field in fields:
        plain = {"name": field.removesuffix("="), "type": "string"}
        described.append({**plain, "default": ""} if field.endswith("=") else dict(plain))
    described += [{"name": field, "type": kind} for field, kind in types.items()]
    return {"type": "record", "name": name, "fields": described}
