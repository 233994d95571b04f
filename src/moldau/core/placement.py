"""Which brokers get the replicas of new partitions: Kafka's placement, with racks and without. Pure.

Leaders go round the brokers one after the other; each round the followers sit one broker further from their leader,
so that what a broker loses when it dies is spread over all others. With racks, the round goes from rack to rack and
no two replicas of a partition share a rack while there are racks left without one (KIP-36).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

Replicas = tuple[int, ...]


def place_replicas(
    indexes: range, factor: int, brokers: Sequence[int], racks: Mapping[int, str], first_leader: int
) -> list[Replicas]:
    """The replicas of these partitions of a topic whose partition 0 is led by `first_leader`. There must be as many
    brokers as replicas. Racks count only if every broker has one."""
    by_rack = all(broker_id in racks for broker_id in brokers)
    round_of = rack_round(brokers, racks) if by_rack else list(brokers)
    rack_count = len({racks[each] for each in brokers}) if by_rack else 1
    size = len(round_of)
    start = round_of.index(first_leader)
    known: dict[tuple[int, int], Replicas] = {}
    placed = []
    for index in indexes:
        first = (index + start) % size
        # As many different shifts as there are other brokers.
        shift = (index // size) * rack_count % max(1, size - 1)
        found = known.get((first, shift))
        if found is None:
            found = known[first, shift] = (
                _spread_over_racks(round_of, racks, rack_count, factor, first, shift)
                if by_rack
                else tuple(round_of[place] for place in _places(first, shift, factor, size))
            )
        placed.append(found)
    return placed


def rack_round(brokers: Sequence[int], racks: Mapping[int, str]) -> list[int]:
    """The brokers with those of one rack as far from each other as can be: 0, 3, 5 of racks a, b, c, then the next
    of each."""
    in_rack: dict[str, list[int]] = {}
    for broker_id in sorted(brokers):
        in_rack.setdefault(racks[broker_id], []).append(broker_id)
    turns = zip_longest(*(in_rack[rack] for rack in sorted(in_rack)))
    return [broker_id for turn in turns for broker_id in turn if broker_id is not None]


def least_leading(brokers: Sequence[int], leaders: Iterable[int]) -> int:
    """The broker that the fewest partitions prefer as leader. A new topic begins there."""
    counts = Counter(leaders)
    return min(brokers, key=lambda broker_id: (counts[broker_id], broker_id))


def _places(first: int, shift: int, factor: int, size: int) -> list[int]:
    followers = ((first + 1 + (shift + step) % (size - 1)) % size for step in range(factor - 1))
    return [first, *followers]


def _spread_over_racks(
    round_of: Sequence[int],
    racks: Mapping[int, str],
    rack_count: int,
    factor: int,
    first: int,
    shift: int,
) -> Replicas:
    size = len(round_of)
    chosen = [round_of[first]]
    used = {racks[chosen[0]]}
    step = 0
    while len(chosen) < factor:
        broker_id = round_of[(first + 1 + (shift + step) % (size - 1)) % size]
        step += 1
        if broker_id not in chosen and (racks[broker_id] not in used or len(used) == rack_count):
            chosen.append(broker_id)
            used.add(racks[broker_id])
    return tuple(chosen)
