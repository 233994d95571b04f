"""Deletion: first softly, then permanently; never of referenced versions, and never so that an id is reused."""

import pytest

from registry_kit import Ledger, record, refused


@pytest.fixture
def ledger() -> Ledger:
    ledger = Ledger()
    ledger.register("a", record("P", "x"))
    ledger.register("a", record("P", "x", "y="))
    return ledger


def versions(ledger: Ledger, subject: str, *, deleted: bool = False) -> list[int]:
    return [stored.version for stored in ledger.state.versions(subject, deleted=deleted)]


def test_a_version_goes_in_two_steps(ledger: Ledger) -> None:
    with refused(40407):
        ledger.delete("a", 1, permanent=True)
    assert ledger.delete("a", 1) == 1
    assert versions(ledger, "a") == [2] and versions(ledger, "a", deleted=True) == [1, 2]
    assert [stored.version for stored in ledger.state.holders(".", 1)] == [1]
    with refused(40406):
        ledger.delete("a", 1)
    assert ledger.delete("a", 1, permanent=True) == 1
    assert versions(ledger, "a", deleted=True) == [2]
    assert ledger.state.holders(".", 1) == []


def test_a_subject_goes_in_two_steps_and_takes_its_settings_with_it(ledger: Ledger) -> None:
    ledger.set_config("a", compatibility="FULL")
    ledger.set_mode("a", "READWRITE")
    with refused(40405):
        ledger.delete("a", permanent=True)
    assert ledger.delete("a") == [1, 2]
    with refused(40404):
        ledger.delete("a")
    assert ledger.delete("a", permanent=True) == [1, 2]
    with refused(40401):
        ledger.delete("a", permanent=True)
    assert ledger.state.subjects() == [] and not ledger.state.configs and not ledger.state.modes


def test_the_latest_is_the_latest_that_is_not_deleted(ledger: Ledger) -> None:
    assert ledger.delete("a", -1) == 2
    assert ledger.delete("a", -1) == 1
    with refused(40402):
        ledger.delete("a", -1)


@pytest.mark.parametrize(
    ("subject", "version", "code"), [("b", 1, 40401), ("a", 3, 40402), ("b", None, 40401)]
)
def test_what_is_not_there_cannot_be_deleted(
    ledger: Ledger, subject: str, version: int | None, code: int
) -> None:
    with refused(code):
        ledger.delete(subject, version)


def test_what_others_refer_to_stays(ledger: Ledger) -> None:
    reference = {"name": "P", "subject": "a", "version": 1}
    ledger.register("b", record("Q", p="P"), references=[reference])
    with refused(42206):
        ledger.delete("a", 1)
    with refused(42206):
        ledger.delete("a")
    ledger.delete("b")
    ledger.delete("a", 1)
    with refused(42206):
        ledger.delete("a", 1, permanent=True)
    ledger.delete("b", permanent=True)
    assert ledger.delete("a", 1, permanent=True) == 1


def test_a_schema_that_comes_back_keeps_its_id_and_gets_a_new_version(ledger: Ledger) -> None:
    ledger.delete("a")
    again = ledger.register("a", record("P", "x"))
    assert (again.version, again.id) == (3, 1)
    assert versions(ledger, "a", deleted=True) == [2, 3]


def test_an_id_is_never_given_again_even_when_the_topic_has_forgotten_it(ledger: Ledger) -> None:
    ledger.delete("a")
    ledger.delete("a", permanent=True)
    reloaded = Ledger(ledger.compacted())
    assert reloaded.state.subjects(":") == [] and reloaded.state.subjects() == []
    assert reloaded.register("b", record("Q", "z")).id == 3


def test_a_context_is_deleted_once_it_is_empty() -> None:
    ledger = Ledger()
    ledger.register(":.x:a", record("P", "x"))
    with refused(42211):
        ledger.apply(ledger.deletion.decide_delete_context(".x"))
    ledger.delete(":.x:a")
    ledger.delete(":.x:a", permanent=True)
    ledger.apply(ledger.deletion.decide_delete_context(".x"))
    assert ledger.state.contexts() == ["."]


def test_nothing_is_deleted_where_nothing_may_be_written(ledger: Ledger) -> None:
    ledger.set_mode(None, "READONLY")
    with refused(42205):
        ledger.delete("a")
    with refused(42205):
        ledger.delete("a", 1)
