"""Where replicas go."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.core.placement import least_leading, place_replicas, rack_round


def test_three_partitions_of_three_replicas_rotate_over_the_brokers() -> None:
    assert place_replicas(range(3), 3, [0, 1, 2], {}, 0) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]


def test_followers_sit_one_further_every_round() -> None:
    placed = place_replicas(range(10), 3, [0, 1, 2, 3, 4], {}, 0)
    assert placed[:5] == [(0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 0), (4, 0, 1)]
    assert placed[5:] == [(0, 2, 3), (1, 3, 4), (2, 4, 0), (3, 0, 1), (4, 1, 2)]


def test_more_partitions_go_on_where_the_topic_ended() -> None:
    whole = place_replicas(range(7), 2, [1, 2, 3], {}, 2)
    assert place_replicas(range(4, 7), 2, [1, 2, 3], {}, 2) == whole[4:]
    assert whole[0] == (2, 3)


def test_a_new_topic_begins_at_the_broker_that_leads_least() -> None:
    assert least_leading([0, 1, 2], []) == 0
    assert least_leading([0, 1, 2], [0, 0, 1, 2, 2]) == 1


def test_a_round_goes_from_rack_to_rack() -> None:
    racks = {0: "a", 1: "b", 2: "c", 3: "a", 4: "b", 5: "c"}
    assert rack_round([0, 1, 2, 3, 4, 5], racks) == [0, 1, 2, 3, 4, 5]
    assert rack_round([0, 1, 2, 3], {0: "a", 1: "a", 2: "a", 3: "b"}) == [0, 3, 1, 2]


def test_racks_count_only_where_every_broker_has_one() -> None:
    half = place_replicas(range(4), 2, [0, 1, 2, 3], {0: "a", 1: "a"}, 0)
    assert half == place_replicas(range(4), 2, [0, 1, 2, 3], {}, 0)


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_no_two_replicas_share_a_rack_while_there_are_enough(factor: int) -> None:
    racks = {0: "a", 1: "a", 2: "b", 3: "b", 4: "c", 5: "c"}
    for replicas in place_replicas(range(36), factor, sorted(racks), racks, 0):
        assert len({racks[each] for each in replicas}) == factor


@given(st.integers(1, 8), st.integers(1, 60), st.data())
def test_every_placement_is_legal_and_leaders_are_spread(
    size: int, partitions: int, data: st.DataObject
) -> None:
    brokers = list(range(10, 10 + size))
    factor = data.draw(st.integers(1, size))
    racks = data.draw(st.dictionaries(st.sampled_from(brokers), st.sampled_from("abc")))
    placed = place_replicas(range(partitions), factor, brokers, racks, data.draw(st.sampled_from(brokers)))
    assert len(placed) == partitions
    for replicas in placed:
        assert len(set(replicas)) == len(replicas) == factor
        assert set(replicas) <= set(brokers)
    leaders = Counter(replicas[0] for replicas in placed)
    counts = [leaders[broker_id] for broker_id in brokers]
    assert max(counts) - min(counts) <= 1
    assert all(before[0] != after[0] for before, after in pairwise(placed)) or size == 1
