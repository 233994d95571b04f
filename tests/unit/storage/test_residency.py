"""Open files and loaded indexes are limited, and nothing stays that is no longer needed."""

from moldau.storage.residency import Residency


class Guest:
    def __init__(self) -> None:
        self.recently_used = False
        self.is_evicted = False

    def evict(self) -> None:
        self.is_evicted = True


def test_the_oldest_goes_when_room_is_needed() -> None:
    residency = Residency(2)
    first, second, third = Guest(), Guest(), Guest()
    for guest in (first, second, third):
        residency.admit(guest)
        guest.recently_used = False
    assert [guest.is_evicted for guest in (first, second, third)] == [True, False, False]


def test_one_in_use_gets_a_second_chance() -> None:
    residency = Residency(2)
    used, idle, newcomer = Guest(), Guest(), Guest()
    residency.admit(used)
    residency.admit(idle)
    idle.recently_used = False
    residency.admit(newcomer)
    assert not used.is_evicted
    assert idle.is_evicted


def test_one_that_is_dismissed_is_not_kept_and_leaves_its_room() -> None:
    residency = Residency(10)
    leaving, staying, newcomer = Guest(), Guest(), Guest()
    residency.admit(leaving, 6)
    residency.admit(staying, 4)
    staying.recently_used = False
    residency.dismiss(leaving)
    residency.dismiss(leaving)
    assert len(residency) == 1
    residency.admit(newcomer, 6)
    assert not staying.is_evicted
    assert not leaving.is_evicted


def test_one_that_has_grown_counts_once() -> None:
    residency = Residency(10)
    grown, other = Guest(), Guest()
    residency.admit(grown, 4)
    residency.admit(grown, 6)
    residency.admit(other, 4)
    assert not grown.is_evicted
    assert len(residency) == 2


def test_half_of_them_go_when_someone_else_needs_the_room() -> None:
    residency = Residency(10)
    guests = [Guest() for _ in range(4)]
    for guest in guests:
        residency.admit(guest)
    residency.shrink()
    assert [guest.is_evicted for guest in guests] == [True, True, False, False]
