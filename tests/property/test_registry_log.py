"""After any operations on a registry, its records rebuild it, compacted or not, and an id stands for one schema."""

import contextlib

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from moldau.registry.entities import SchemaText
from moldau.registry.failures import RegistryFailure
from moldau.registry.state import RegistryState
from moldau.registry.subjects import context_of
from registry_kit import Ledger, record, request

subjects = st.sampled_from(["a", "b", ":.x:a"])
schemas = st.sampled_from(
    [record("P", *fields) for fields in (["x="], ["x=", "y="], ["y="], ["x=", "y=", "z="], ["z="])]
)
versions = st.sampled_from([-1, 1, 2, 3])


class RegistryMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()
        self.meaning: dict[tuple[str, int], str] = {}
        """Every schema that ever had the id."""

    @rule(
        subject=subjects,
        schema=schemas,
        owner=st.sampled_from([None, "me"]),
        refer=st.sampled_from([None, 1, -1]),
    )
    def register(self, subject: str, schema: object, owner: str | None, refer: int | None) -> None:
        fields: dict[str, object] = {} if owner is None else {"metadata": {"properties": {"owner": owner}}}
        if refer and subject == "a" and self.ledger.state.version("b", 1):
            fields["references"] = [{"name": "P", "subject": "b", "version": refer}]
            schema = record("Q", p="P")
        with contextlib.suppress(RegistryFailure):
            stored = self.ledger.register(subject, schema, **fields)
            again = self.ledger.register(subject, schema, **fields)
            assert again == stored, "a schema is registered once"

    @rule(subject=subjects, version=st.none() | versions, permanent=st.booleans())
    def delete(self, subject: str, version: int | None, permanent: bool) -> None:
        with contextlib.suppress(RegistryFailure):
            self.ledger.delete(subject, version, permanent=permanent)

    @rule(subject=st.none() | subjects, level=st.sampled_from(["NONE", "FULL", None]))
    def configure(self, subject: str | None, level: str | None) -> None:
        self.ledger.set_config(subject, compatibility=level)

    @rule(subject=subjects, schema_id=st.integers(1, 30), schema=schemas)
    def bring_in(self, subject: str, schema_id: int, schema: object) -> None:
        with contextlib.suppress(RegistryFailure):
            self.ledger.set_mode(subject, "IMPORT", force=True)
            taken = self.meaning.get((":.x:" if subject.startswith(":") else "", schema_id))
            if taken is None and not self._is_known(subject, schema):
                self.ledger.register(subject, schema, id=schema_id)
        self.ledger.set_mode(subject, "READWRITE")

    def _is_known(self, subject: str, schema: object) -> bool:
        """An import may give a schema a second id; that is not tested here."""
        text = self.ledger.registration.parser.parse(subject, request(schema).schema, as_new=True).canonical
        stored = SchemaText(text)
        return self.ledger.state.id_of(context_of(subject), "AVRO", stored.digest()) is not None

    @invariant()
    def an_id_means_one_schema_for_ever(self) -> None:
        for subject in self.ledger.state.subjects():
            for stored in self.ledger.state.versions(subject, deleted=True):
                key = (":.x:" if subject.startswith(":") else "", stored.id)
                assert self.meaning.setdefault(key, stored.schema.text) == stored.schema.text

    @invariant()
    def what_is_referred_to_is_there(self) -> None:
        state = self.ledger.state
        for subject in state.subjects():
            for stored in state.versions(subject, deleted=True):
                for reference in stored.schema.references:
                    assert state.version(reference.subject, reference.version, deleted=True) is not None
                    assert reference.version > 0 and stored in state.referrers(
                        reference.subject, reference.version, deleted=True
                    )

    @invariant()
    def a_schema_has_one_id(self) -> None:
        found: dict[tuple[bool, bytes], int] = {}
        for subject in self.ledger.state.subjects():
            for stored in self.ledger.state.versions(subject, deleted=True):
                assert found.setdefault((subject.startswith(":"), stored.digest), stored.id) == stored.id

    @invariant()
    def the_records_rebuild_the_state(self) -> None:
        expected = seen(self.ledger.state)
        assert seen(Ledger(self.ledger.records).state) == expected
        assert seen(Ledger(self.ledger.compacted()).state) == expected


def seen(state: RegistryState) -> object:
    return (
        {subject: state.versions(subject, deleted=True) for subject in state.subjects()},
        {
            (subject, stored.version): sorted(
                (referrer.subject, referrer.version)
                for referrer in state.referrers(subject, stored.version, deleted=True)
            )
            for subject in state.subjects()
            for stored in state.versions(subject, deleted=True)
        },
        state.configs,
        state.modes,
        {context: state.id_max(context) for context in (".", ".x")},
        set(state.contexts()),
    )


TestRegistry = RegistryMachine.TestCase
TestRegistry.settings = settings(
    max_examples=40, stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
