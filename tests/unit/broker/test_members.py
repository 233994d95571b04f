"""Whom clients are told to ask for what a controller does: always somebody who is there."""

from moldau.broker.members import Member, Members
from moldau.broker.request.advertised_listeners import AdvertisedListeners
from moldau.core.ids import BrokerId


def test_clients_are_told_of_the_controller_or_of_another_broker_that_is_there() -> None:
    members = Members(BrokerId(2), None, AdvertisedListeners({}))
    assert members.admin_broker_id == 2
    both = [Member(BrokerId(number), None, {}, 0) for number in (1, 2)]
    for controller, told in ((2, 2), (-1, 1), (7, 1)):
        members.update(both, controller)
        assert members.admin_broker_id == told
    members.update([], -1)
    assert members.admin_broker_id == -1
