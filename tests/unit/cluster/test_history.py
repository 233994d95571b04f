"""The checker of histories finds what it is there to find."""

from e2e.cluster.history import History, Seen, find_problems, record

PLACE = ("t", 0)


def log_of(*values: bytes) -> list[Seen]:
    return [Seen(offset, value) for offset, value in enumerate(values)]


def problems_of(history: History, *values: bytes) -> set[str]:
    log = {PLACE: log_of(*values)}
    return set(find_problems(history, log, log))


A, B, C = (record("w", number) for number in range(3))


def test_a_faultless_history_has_no_problems() -> None:
    history = History()
    for offset, value in enumerate((A, B, C)):
        history.acknowledge(PLACE, value)
        history.see("reader", PLACE, offset, value)
    assert problems_of(history, A, B, C) == set()


def test_lost_doubled_and_reordered_records_are_found() -> None:
    history = History()
    history.acknowledge(PLACE, B)
    assert problems_of(history, A) == {"lost"}
    assert problems_of(history, A, B, B) == {"duplicated"}
    assert problems_of(history, B, A) == {"reordered"}


def test_readers_that_went_back_or_saw_what_vanished_or_missed_something_are_found() -> None:
    for seen, kinds in (
        ([(1, B), (0, A)], {"non-monotonic"}),
        ([(0, A), (1, C)], {"non-monotonic"}),
        ([(0, A), (2, C)], {"unseen"}),
    ):
        history = History()
        for offset, value in seen:
            history.see("reader", PLACE, offset, value)
        assert problems_of(history, A, B, C) == kinds


def test_transactions_that_are_torn_lost_or_shown_though_aborted_are_found() -> None:
    first, second = record("b", 0, "x", 2), record("b", 1, "x", 2)
    for fate, values, kinds in (
        ("committed", (first, second), set()),
        ("committed", (first,), {"torn"}),
        ("committed", (), {"lost"}),
        ("aborted", (first, second), {"aborted"}),
        ("aborted", (), set()),
        ("unknown", (first, second), set()),
        ("unknown", (), set()),
        ("unknown", (second,), {"torn"}),
    ):
        history = History(transactions={b"x": fate})
        assert problems_of(history, *values) == kinds
