"""Writes that wait learn whether their transaction was ended meanwhile."""

from moldau.broker.transactions.verification import Verifying

ONE, OTHER = 1, 2


def test_a_marker_makes_the_waiting_writes_of_its_producer_void_and_no_others() -> None:
    verifying = Verifying()
    first, second, foreign = verifying.begin(ONE), verifying.begin(ONE), verifying.begin(OTHER)
    assert first.end()
    verifying.transaction_ended(ONE)
    later = verifying.begin(ONE)
    assert not second.end()
    assert foreign.end()
    assert later.end(), "it began after the marker"
    assert not later.end(), "a write waits once"


def test_nothing_that_waited_is_good_after_somebody_else_led() -> None:
    verifying = Verifying()
    writes = [verifying.begin(ONE), verifying.begin(OTHER)]
    verifying.led_elsewhere()
    assert not any(write.end() for write in writes)
    assert verifying.begin(ONE).end()
