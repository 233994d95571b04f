"""Configurations and modes: which apply to a subject, and which may be set."""

import pytest

from registry_kit import Ledger, record, refused


def test_a_subjects_own_configuration_then_its_contexts_then_the_global_one() -> None:
    ledger = Ledger(level="BACKWARD")
    assert ledger.scope.level("a") == "BACKWARD"
    ledger.set_config(None, compatibility="FORWARD")
    assert (ledger.scope.level("a"), ledger.scope.level(":.x:a")) == ("FORWARD", "BACKWARD")
    ledger.set_config(":.__GLOBAL:", compatibility="FULL")
    assert (ledger.scope.level("a"), ledger.scope.level(":.x:a")) == ("FORWARD", "FULL")
    ledger.set_config(":.x:", compatibility="NONE")
    ledger.set_config(":.x:a", compatibility="FULL_TRANSITIVE")
    assert (ledger.scope.level(":.x:b"), ledger.scope.level(":.x:a")) == ("NONE", "FULL_TRANSITIVE")


def test_an_update_changes_what_it_names_and_null_takes_it_back() -> None:
    ledger = Ledger()
    ledger.set_config("a", compatibility="full", normalize=True, alias="b")
    ledger.set_config("a", alias=None)
    assert ledger.state.configs["a"] == {"normalize": True, "compatibilityLevel": "FULL"}
    ledger.set_config("a", compatibility=None)
    assert ledger.scope.config("a") == {"compatibilityLevel": "BACKWARD", "normalize": True}


def test_what_a_subject_leaves_open_the_global_configuration_says() -> None:
    ledger = Ledger()
    ledger.set_config(None, normalize=True, compatibility="NONE")
    ledger.set_config("a", compatibility="FULL")
    assert ledger.scope.config("a") == {"normalize": True, "compatibilityLevel": "FULL"}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"compatibility": "SIDEWAYS"}, 42203),
        ({"compatibility": 1}, 42203),
        ({"normalize": "yes"}, 422),
        ({"alias": 1}, 422),
        ({"defaultRuleSet": {"domainRules": [{"name": ""}]}}, 42210),
    ],
)
def test_a_wrong_configuration_is_refused(fields: dict[str, object], code: int) -> None:
    with refused(code):
        Ledger().set_config("a", **fields)


def test_deleting_a_configuration_gives_it_back() -> None:
    ledger = Ledger()
    with refused(40401):
        ledger.apply(ledger.governance.decide_delete_config("a"))
    ledger.set_config("a", compatibility="NONE")
    assert ledger.apply(ledger.governance.decide_delete_config("a")) == {"compatibilityLevel": "NONE"}
    assert ledger.scope.own_config("a") is None


def test_modes_hold_for_a_subject_a_context_or_all() -> None:
    ledger = Ledger()
    ledger.set_mode(":.x:", "READONLY")
    assert (ledger.scope.mode(":.x:a"), ledger.scope.mode("a")) == ("READONLY", "READWRITE")
    ledger.set_mode(":.x:a", "READWRITE")
    assert ledger.register(":.x:a", record("P", "x")).version == 1
    ledger.set_mode(None, "READONLY_OVERRIDE")
    assert ledger.scope.mode(":.x:a") == "READONLY_OVERRIDE"
    with refused(42205):
        ledger.register(":.x:a", record("P", "y"))


def test_import_needs_an_empty_subject_or_force() -> None:
    ledger = Ledger()
    ledger.register("a", record("P", "x"))
    with refused(42205):
        ledger.set_mode("a", "IMPORT")
    ledger.delete("a")
    ledger.set_mode("a", "IMPORT")
    assert ledger.state.versions("a", deleted=True) == []
    assert ledger.register("a", record("Q", "x"), id=9).id == 9
    ledger.set_mode("a", "READWRITE")
    ledger.set_mode("a", "IMPORT", force=True)
    assert ledger.state.versions("a") != []


@pytest.mark.parametrize("mode", ["SOMETIMES", 1, "FORWARD"])
def test_a_wrong_mode_is_refused(mode: str) -> None:
    with refused(42204):
        Ledger().set_mode("a", mode)


def test_modes_cannot_be_changed_where_that_is_switched_off() -> None:
    ledger = Ledger()
    fixed = ledger.governance._replace(is_mode_mutable=False)
    with refused(42205):
        fixed.decide_mode("a", {"mode": "READONLY"}, force=False)


def test_deleting_a_mode_with_those_of_its_subjects() -> None:
    ledger = Ledger()
    for subject in (":.x:", ":.x:a", "b"):
        ledger.set_mode(subject, "READONLY")
    assert ledger.apply(ledger.governance.decide_delete_mode(":.x:", recursive=True)) == "READONLY"
    assert ledger.state.modes == {"b": "READONLY"}
    with refused(40401):
        ledger.apply(ledger.governance.decide_delete_mode("c", recursive=False))


def test_an_alias_stands_for_another_subject_of_its_context() -> None:
    ledger = Ledger()
    ledger.set_config(":.x:short", alias="a-long-name")
    ledger.set_config("there", alias=":.x:a-long-name")
    assert ledger.scope.alias(":.x:short") == ":.x:a-long-name"
    assert ledger.scope.alias("there") == ":.x:a-long-name"
    assert ledger.scope.alias("other") == "other"
