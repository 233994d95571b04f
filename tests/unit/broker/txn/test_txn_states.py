"""The tables of states: complete, and without dead ends."""

from moldau.broker.txn.states import AT_REST, COMPLETED, END_V1, END_V2, ENDING, PREVIOUS, End, TxnState
from moldau.core.error_codes import ErrorCode

LIVING = AT_REST | ENDING | {TxnState.ONGOING}


def test_every_state_has_a_way_in_and_all_that_live_a_way_out() -> None:
    assert PREVIOUS.keys() == set(TxnState)
    followed = {before for befores in PREVIOUS.values() for before in befores}
    assert followed >= LIVING


def test_a_decision_is_never_taken_back() -> None:
    for decided, complete in COMPLETED.items():
        assert [state for state in LIVING if decided in PREVIOUS[state]] == [complete]


def test_end_is_said_for_every_living_state() -> None:
    assert END_V1.keys() == LIVING
    assert {state for state, _ in END_V2} == LIVING


def test_an_end_of_either_version_leads_where_the_table_of_states_allows() -> None:
    verdicts = list(END_V1.items()) + [(state, verdict) for (state, _), verdict in END_V2.items()]
    for state, (abort, commit) in verdicts:
        assert abort is not End.NOW or state in PREVIOUS[TxnState.PREPARE_ABORT]
        assert commit is not End.NOW or state in PREVIOUS[TxnState.PREPARE_COMMIT]


def test_a_retried_end_never_ends_anything() -> None:
    for (_, retried), verdicts in END_V2.items():
        assert not retried or End.NOW not in verdicts


def test_waiting_is_only_asked_for_while_the_markers_are_under_way() -> None:
    for state, verdicts in END_V1.items():
        assert (ErrorCode.CONCURRENT_TRANSACTIONS in verdicts) == (state in ENDING)


def test_labels_are_kafkas() -> None:
    assert [state.label for state in TxnState] == [
        "Empty",
        "Ongoing",
        "PrepareCommit",
        "PrepareAbort",
        "CompleteCommit",
        "CompleteAbort",
        "Dead",
        "PrepareEpochFence",
    ]
