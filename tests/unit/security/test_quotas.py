"""Limits and their precedence, rates over windows, tokens, and what can be set."""

import pytest

from moldau.core.errors import ApiError
from moldau.security.quotas import client_quotas
from moldau.security.quotas.client_quotas import UNLIMITED, ClientQuotas
from moldau.security.quotas.quota_changes import (
    Component,
    MatchType,
    checked_entity,
    checked_values,
    quota_filter,
)
from moldau.security.quotas.quota_keys import (
    ADDRESS,
    CLIENT,
    CONNECTION,
    FETCH,
    MUTATION,
    PRODUCE,
    REQUEST,
    USER,
    Entity,
    quota_text,
    quota_values,
)
from moldau.security.quotas.quota_limits import QuotaLimits

ALICE, ANY_USER, APP, ANY_CLIENT = (USER, "alice"), (USER, None), (CLIENT, "app"), (CLIENT, None)
BY_PRECEDENCE: list[Entity] = [
    (ALICE, APP),
    (ALICE, ANY_CLIENT),
    (ALICE,),
    (ANY_USER, APP),
    (ANY_USER, ANY_CLIENT),
    (ANY_USER,),
    (APP,),
    (ANY_CLIENT,),
]
SHARED_BY = [
    ("alice", "app"),
    ("alice", "app"),
    ("alice", None),
    ("alice", "app"),
    ("alice", "app"),
    ("alice", None),
    (None, "app"),
    (None, "app"),
]


@pytest.mark.parametrize("first", range(len(BY_PRECEDENCE)))
def test_the_most_specific_limit_is_in_force(first: int) -> None:
    limits = QuotaLimits()
    limits.put(
        {entity: {PRODUCE: float(place)} for place, entity in enumerate(BY_PRECEDENCE) if place >= first}
    )
    assert limits.find(PRODUCE, "alice", "app") == (first, SHARED_BY[first])
    assert limits.find(FETCH, "alice", "app") is None


def test_each_key_has_a_precedence_of_its_own() -> None:
    limits = QuotaLimits()
    limits.put({(ALICE,): {PRODUCE: 1.0}, (ANY_CLIENT,): {FETCH: 2.0}})
    assert limits.find(FETCH, "alice", "app") == (2.0, (None, "app"))
    assert limits.find(PRODUCE, "bob", "app") is None


def quotas_of(key: str, limit: float, entity: Entity = (ALICE,)) -> ClientQuotas:
    quotas = ClientQuotas()
    quotas.put({entity: {key: limit}})
    return quotas


def test_without_limits_nothing_is_counted() -> None:
    quotas = ClientQuotas()
    assert not quotas.is_active
    quotas.put({((ADDRESS, "192.0.2.1"),): {CONNECTION: 5.0}})
    assert not quotas.is_active
    assert quotas.produced("alice", "app", 1 << 30, 0) == 0
    assert quotas.fetch_bytes_max("alice", "app") == UNLIMITED


def test_a_burst_is_spread_over_the_window() -> None:
    quotas = quotas_of(PRODUCE, 1000)
    assert quotas.produced("alice", "app", 10_000, 0) == 0
    # 11,000 bytes in what counts as 10 seconds are a tenth too many.
    assert quotas.produced("alice", "app", 1000, 0) == 1000
    assert quotas.produced("bob", "app", 1 << 30, 0) == 0


def test_what_is_old_does_not_count() -> None:
    quotas = quotas_of(PRODUCE, 1000)
    quotas.produced("alice", "app", 20_000, 0)
    assert quotas.produced("alice", "app", 1, 9_000) > 0
    assert quotas.produced("alice", "app", 1, 11_000) == 0


def test_users_share_what_is_theirs_and_clients_what_is_theirs() -> None:
    of_user, of_client = quotas_of(PRODUCE, 1000), quotas_of(PRODUCE, 1000, (ANY_CLIENT,))
    assert (of_user.produced("alice", "a", 10_000, 0), of_user.produced("alice", "b", 1000, 0)) == (0, 1000)
    assert (of_client.produced("alice", "a", 10_000, 0), of_client.produced("bob", "a", 1000, 0)) == (0, 1000)
    assert of_client.produced("alice", "b", 10_000, 0) == 0


def test_a_fetch_that_must_wait_is_not_counted() -> None:
    quotas = quotas_of(FETCH, 1000)
    assert quotas.fetch_bytes_max("alice", "app") == 10_000
    assert quotas.fetched("alice", "app", 9_000, 0) == 0
    assert quotas.fetched("alice", "app", 2_000, 0) == 1000
    assert quotas.fetched("alice", "app", 1_000, 0) == 0


def test_time_of_requests_waits_for_one_window_at_most() -> None:
    quotas = quotas_of(REQUEST, 1)
    assert quotas.wait_for_work_ms("alice", "app", 0) == 0
    quotas.worked("alice", "app", 0.1, 0)
    assert quotas.wait_for_work_ms("alice", "app", 0) == 0
    quotas.worked("alice", "app", 1.0, 0)
    assert quotas.wait_for_work_ms("alice", "app", 0) == 1000


def test_mutations_have_tokens() -> None:
    quotas = quotas_of(MUTATION, 2)
    quotas.mutated("alice", "app", 22, 0)
    assert quotas.wait_for_mutations_ms("alice", "app", 0) == 0
    quotas.mutated("alice", "app", 10, 0)
    assert quotas.wait_for_mutations_ms("alice", "app", 0) == 5000
    assert quotas.wait_for_mutations_ms("alice", "app", 5000) == 0


def test_counts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_quotas, "USAGES_MAX", 20)
    quotas = quotas_of(PRODUCE, 1000, (ANY_CLIENT,))
    for number in range(100):
        quotas.produced("alice", f"client-{number}", 10_000, number)
    assert len(quotas._rates) <= 20
    assert quotas.produced("alice", "client-99", 1000, 99) > 0


def test_settings_that_are_no_quotas_are_left_out() -> None:
    texts = {PRODUCE: "1024", REQUEST: "12.5", FETCH: "much", "SCRAM-SHA-256": "salt=..", MUTATION: "nan"}
    assert quota_values(texts) == {PRODUCE: 1024.0, REQUEST: 12.5}
    assert (quota_text(PRODUCE, 1024.0), quota_text(REQUEST, 12.5)) == ("1024", "12.5")


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ([], "empty"),
        ([("group", "a")], "Unhandled"),
        ([(USER, "")], "Empty user"),
        ([(USER, "a"), (USER, "b")], "duplicate"),
        ([(ADDRESS, "192.0.2.1"), (USER, "a")], "combination"),
        ([(ADDRESS, "nowhere")], "not a valid IP"),
    ],
)
def test_entities_that_cannot_be(parts: list[tuple[str, str | None]], complaint: str) -> None:
    with pytest.raises(ApiError, match=complaint):
        checked_entity(parts)


def test_the_parts_of_an_entity_have_an_order() -> None:
    assert checked_entity([APP, ALICE]) == (ALICE, APP)
    assert checked_entity([(ADDRESS, None)]) == ((ADDRESS, None),)


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("burst", 1.0, "Invalid configuration key"),
        (CONNECTION, 1.0, "Invalid configuration key"),
        (PRODUCE, 0.0, "greater than 0"),
        (PRODUCE, 1.5, "fractional"),
        (FETCH, 1e20, "too large"),
        (REQUEST, float("nan"), "greater"),
    ],
)
def test_values_that_cannot_be(key: str, value: float, complaint: str) -> None:
    with pytest.raises(ApiError, match=complaint):
        checked_values((ALICE,), [(key, value)])


def test_values_are_texts_and_removals() -> None:
    values: list[tuple[str, float | None]] = [(PRODUCE, 5.0), (REQUEST, 0.5), (FETCH, None)]
    assert checked_values((ALICE,), values) == {PRODUCE: "5", REQUEST: "0.5", FETCH: None}
    with pytest.raises(ApiError, match="Duplicate"):
        checked_values((ALICE,), [(PRODUCE, 5.0), (PRODUCE, 6.0)])


@pytest.mark.parametrize(
    ("components", "strict", "taken"),
    [
        ([], False, [(ALICE,), (ALICE, APP), (ANY_USER,), (APP,)]),
        ([Component(USER, MatchType.EXACT, "alice")], False, [(ALICE,), (ALICE, APP)]),
        ([Component(USER, MatchType.EXACT, "alice")], True, [(ALICE,)]),
        ([Component(USER, MatchType.DEFAULT, None)], False, [(ANY_USER,)]),
        (
            [Component(USER, MatchType.ANY, None), Component(CLIENT, MatchType.EXACT, "app")],
            True,
            [(ALICE, APP)],
        ),
    ],
)
def test_filters(components: list[Component], strict: bool, taken: list[Entity]) -> None:
    every: list[Entity] = [(ALICE,), (ALICE, APP), (ANY_USER,), (APP,)]
    wanted = quota_filter(components, is_strict=strict)
    assert [entity for entity in every if wanted.takes(entity)] == taken


@pytest.mark.parametrize(
    "components",
    [
        [Component("", 0, "a")],
        [Component("group", 0, "a")],
        [Component(USER, 0, None)],
        [Component(USER, 1, "a")],
        [Component(USER, 2, "a")],
        [Component(USER, 7, None)],
        [Component(USER, 2, None), Component(USER, 1, None)],
        [Component(USER, 2, None), Component(ADDRESS, 2, None)],
    ],
)
def test_filters_that_make_no_sense(components: list[Component]) -> None:
    with pytest.raises(ApiError):
        quota_filter(components, is_strict=False)
