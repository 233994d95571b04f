"""The server-side assignors of consumer groups (KIP-848): pure functions by name."""

from collections.abc import Mapping
from typing import Final

from moldau.broker.group.consumer.assignors.range import assign_range
from moldau.broker.group.consumer.assignors.subscriber import Assignor
from moldau.broker.group.consumer.assignors.uniform import assign_uniform

ASSIGNORS: Final[Mapping[str, Assignor]] = {"uniform": assign_uniform, "range": assign_range}
