"""Registration and lookup: which id and version a schema gets, and what is rejected."""

import orjson
import pytest

from registry_kit import Ledger, record, refused


def test_versions_count_by_subject_and_ids_by_context() -> None:
    ledger = Ledger()
    places = [
        ledger.register(subject, schema)
        for subject, schema in (
            ("a", record("P", "x")),
            ("a", record("P", "x", "y=")),
            ("b", record("P", "z")),
            (":.staging:a", record("P", "x")),
        )
    ]
    assert [(stored.version, stored.id) for stored in places] == [(1, 1), (2, 2), (1, 3), (1, 1)]
    assert ledger.state.contexts() == [".", ".staging"]


def test_the_same_schema_has_one_id_and_is_registered_once() -> None:
    ledger = Ledger()
    first = ledger.register("a", record("P", "x"))
    written = len(ledger.records)
    assert (
        ledger.register("a", ' {"type": "record", "name": "P", "fields": [{"name":"x","type":"string"}] } ')
        == first
    )
    assert len(ledger.records) == written
    other = ledger.register("b", record("P", "x"))
    assert (other.version, other.id) == (1, first.id)


def test_metadata_makes_another_version_with_another_id() -> None:
    ledger = Ledger()
    ledger.register("a", record("P", "x"))
    owned = ledger.register("a", record("P", "x"), metadata={"properties": {"owner": "me"}})
    assert (owned.version, owned.id) == (2, 2)


def test_metadata_and_rules_come_from_the_version_before() -> None:
    ledger = Ledger()
    rules = {
        "domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}]
    }
    ledger.register("a", record("P", "x"), metadata={"properties": {"owner": "me"}}, ruleSet=rules)
    second = ledger.register("a", record("P", "x", "y="))
    assert second.schema.metadata == {"properties": {"owner": "me"}}
    assert second.schema.rule_set == {
        "domainRules": [
            {
                "name": "r",
                "kind": "CONDITION",
                "mode": "WRITE",
                "type": "CEL",
                "expr": "true",
                "disabled": False,
            }
        ]
    }
    found = ledger.find("a", record("P", "x", "y="))
    assert found == second


def test_defaults_and_overrides_of_the_configuration_are_put_in() -> None:
    ledger = Ledger()
    ledger.set_config(
        "a",
        defaultMetadata={"properties": {"owner": "nobody", "team": "core"}},
        overrideMetadata={"properties": {"team": "data"}},
    )
    stored = ledger.register("a", record("P", "x"), metadata={"properties": {"owner": "me", "team": "mine"}})
    assert stored.schema.metadata == {"properties": {"owner": "me", "team": "data"}}


def test_a_refusal_names_field_rule_version_and_the_way_out() -> None:
    ledger = Ledger()
    ledger.register("a", record("P", "x"))
    with refused(409) as refusal:
        ledger.register("a", record("P", "x", "y"))
    assert refusal.value.status == 409
    assert "Field y is new since version 1 and has no default" in refusal.value.message
    assert 'To pass: add "default"' in refusal.value.message
    (clash,) = refusal.value.clashes
    assert (clash["rule"], clash["version"]) == ("READER_FIELD_MISSING_DEFAULT_VALUE", 1)


@pytest.mark.parametrize(("level", "is_refused"), [("NONE", False), ("FORWARD", False), ("FULL", True)])
def test_the_level_of_the_subject_decides(level: str, is_refused: bool) -> None:
    ledger = Ledger()
    ledger.register("a", record("P", "x"))
    ledger.set_config("a", compatibility=level.lower())
    if is_refused:
        with refused(409):
            ledger.register("a", record("P", "x", "y"))
    else:
        assert ledger.register("a", record("P", "x", "y")).version == 2


def test_force_leaves_the_check_out() -> None:
    ledger = Ledger()
    ledger.register("a", record("P", "x"))
    assert ledger.register("a", record("P", "x", "y"), force=True).version == 2


def test_a_compatibility_group_parts_the_versions() -> None:
    ledger = Ledger()
    ledger.set_config("a", compatibilityGroup="major")
    ledger.register("a", record("P", "x"), metadata={"properties": {"major": "1"}})
    with refused(409):
        ledger.register("a", record("P", "x", "y"), metadata={"properties": {"major": "1"}})
    assert ledger.register("a", record("P", "x", "y"), metadata={"properties": {"major": "2"}}).version == 2


def test_an_empty_schema_means_the_one_before_with_other_metadata() -> None:
    ledger = Ledger()
    with refused(42201):
        ledger.register("a", "")
    first = ledger.register("a", record("P", "x"))
    second = ledger.register("a", "", metadata={"properties": {"owner": "me"}})
    assert second.schema.text == first.schema.text and second.version == 2


@pytest.mark.parametrize(
    ("subject", "schema", "fields", "code"),
    [
        ("a", "not json", {}, 42201),
        ("a", '{"type":"record"}', {}, 42201),
        ("a", '"int"', {"schemaType": "XML"}, 42201),
        ("a\nb", '"int"', {}, 42208),
        ("__GLOBAL", '"int"', {}, 42208),
        (":.__GLOBAL:a", '"int"', {}, 42208),
        ("a", '"int"', {"references": [{"name": "n", "subject": "nowhere", "version": 1}]}, 42201),
        ("a", '"int"', {"references": [{"name": "n", "subject": "nowhere"}]}, 42201),
        ("a", '"int"', {"ruleSet": {"domainRules": [{"name": "r"}, {"name": "r"}]}}, 42210),
        ("a", '"int"', {"ruleSet": {"domainRules": [{"name": "r", "mode": "UPGRADE"}]}}, 42210),
        ("a", '"int"', {"id": 5}, 42205),
        ("a", '"int"', {"version": 3}, 42201),
    ],
)
def test_what_is_wrong_with_a_request_is_told_by_its_code(
    subject: str, schema: str, fields: dict[str, object], code: int
) -> None:
    ledger = Ledger()
    with refused(code):
        ledger.register(subject, schema, **fields)
    assert ledger.records == []


@pytest.mark.parametrize(
    "body", [None, [], {"schema": {"type": "string"}}, {"schema": 1}, {"references": [1]}, {"version": "x"}]
)
def test_a_body_that_is_no_request_is_422(body: object) -> None:
    from moldau.registry.entities import SchemaRequest

    with refused(422):
        SchemaRequest.parse(body)


def test_references_are_found_in_the_context_of_whoever_names_them() -> None:
    ledger = Ledger()
    ledger.register(":.x:item", record("Item", "sku"))
    order = record("Order", item="Item")
    reference = {"name": "Item", "subject": "item", "version": 1}
    with refused(42201):
        ledger.register("order", order, references=[reference])
    stored = ledger.register(":.x:order", order, references=[reference])
    assert ledger.state.referrers(":.x:item", 1) == [stored]


def test_a_schema_with_its_references_put_in_place_is_the_same_schema() -> None:
    ledger = Ledger()
    ledger.register("item", record("Item", "sku"))
    reference = {"name": "Item", "subject": "item", "version": 1}
    stored = ledger.register("order", record("Order", item="Item"), references=[reference])
    whole = record("Order", item=record("Item", "sku"))
    assert ledger.register("order", whole) == stored
    assert ledger.find("order", whole) == stored


def test_references_in_a_cycle_are_refused() -> None:
    """Only a topic that other registries wrote can contain one."""
    plain = Ledger()
    plain.register("a", record("A", "x"))
    plain.register("b", record("B", "x"))

    def with_reference(written: tuple[bytes, bytes | None], subject: str) -> tuple[bytes, bytes]:
        value = orjson.loads(written[1] or b"")
        value["references"] = [{"name": subject.upper(), "subject": subject, "version": 1}]
        return written[0], orjson.dumps(value)

    ledger = Ledger([with_reference(plain.records[0], "b"), with_reference(plain.records[1], "a")])
    with refused(42201) as refusal:
        ledger.register("c", record("C", a="A"), references=[{"name": "A", "subject": "a", "version": 1}])
    assert "cycle" in refusal.value.message


def test_normalised_schemas_are_the_same_schema() -> None:
    ledger = Ledger()
    stored = ledger.register("a", record("P", "x"), normalize=True)
    verbose = {"type": "record", "name": "P", "fields": [{"name": "x", "type": {"type": "string"}}]}
    assert ledger.register("a", verbose, normalize=True) == stored


def test_import_keeps_ids_and_versions_and_forbids_to_overwrite() -> None:
    ledger = Ledger()
    ledger.set_mode("a", "IMPORT")
    with refused(42205):
        ledger.register("a", record("P", "x"))
    stored = ledger.register("a", record("P", "x"), id=17, version=5)
    assert (stored.id, stored.version) == (17, 5)
    with refused(42205):
        ledger.register("a", record("P", "y"), id=17, version=6)
    ledger.set_mode("a", "READWRITE")
    assert ledger.register("a", record("P", "x", "z=")).id == 18


def test_a_lookup_in_the_default_context_finds_what_is_in_another() -> None:
    ledger = Ledger()
    stored = ledger.register(":.x:a", record("P", "x"))
    assert ledger.find("a", record("P", "x")) == stored
    assert ledger.find(":.y:a", record("P", "x")) is None


def test_compatibility_with_one_version_or_with_those_the_level_asks_for() -> None:
    ledger = Ledger()
    ledger.register("a", record("P", "x"))
    ledger.register("a", record("P", "x", "y="))
    new = record("P", "x", "y")
    assert [clash.version for clash in ledger.clashes("a", new, 1)] == [1]
    assert ledger.clashes("a", new, -1) == []
    assert ledger.clashes("a", new, None) == []
    ledger.set_config("a", compatibility="BACKWARD_TRANSITIVE")
    assert [clash.version for clash in ledger.clashes("a", new, None)] == [1]
    with refused(40402):
        ledger.clashes("a", new, 3)
    assert ledger.clashes("unknown", new, -1) == []
