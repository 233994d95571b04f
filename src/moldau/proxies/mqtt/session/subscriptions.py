"""Which sessions want a message: a tree of topic filters by level."""

from collections.abc import Hashable, Iterator
from typing import Final, Generic, NamedTuple, TypeVar

CACHE_MAX: Final = 4_096

S = TypeVar("S", bound=Hashable)


class Subscription(NamedTuple):
    """One subscription of a session. `filter` is without `$share/group/`."""

    filter: str
    qos: int = 0
    no_local: bool = False
    retain_as_published: bool = False
    identifier: int = 0
    group: str = ""


class _Level(Generic[S]):
    __slots__ = ("below", "here")

    def __init__(self) -> None:
        self.below: dict[str, _Level[S]] = {}
        self.here: dict[S, Subscription] = {}


Matches = tuple[tuple[S, tuple[Subscription, ...]], ...]


class SubscriptionTree(Generic[S]):
    """Finds the subscribers of a topic name. What was found is kept until a subscription changes."""

    def __init__(self) -> None:
        self._root: _Level[S] = _Level()
        self._found: dict[str, Matches[S]] = {}
        self.count = 0

    def add(self, subscriber: S, subscription: Subscription) -> None:
        """Replaces what the subscriber has with the same filter."""
        level = self._root
        for name in subscription.filter.split("/"):
            level = level.below.setdefault(name, _Level())
        self.count += subscriber not in level.here
        level.here[subscriber] = subscription
        self._found.clear()

    def remove(self, subscriber: S, filter_text: str) -> None:
        """Levels that nobody needs any more are removed too."""
        path: list[tuple[_Level[S], str]] = []
        level = self._root
        for name in filter_text.split("/"):
            below = level.below.get(name)
            if below is None:
                return
            path.append((level, name))
            level = below
        if level.here.pop(subscriber, None) is None:
            return
        self.count -= 1
        self._found.clear()
        while path and not level.here and not level.below:
            level, name = path.pop()
            del level.below[name]

    def matching(self, topic: str) -> Matches[S]:
        """The subscribers of this topic name, each with those of its subscriptions that match."""
        found = self._found.get(topic)
        if found is None:
            by_subscriber: dict[S, list[Subscription]] = {}
            for level in self._levels(topic):
                for subscriber, subscription in level.here.items():
                    by_subscriber.setdefault(subscriber, []).append(subscription)
            found = tuple((subscriber, tuple(found)) for subscriber, found in by_subscriber.items())
            if len(self._found) >= CACHE_MAX:
                self._found.clear()
            self._found[topic] = found
        return found

    def _levels(self, topic: str) -> Iterator[_Level[S]]:
        """Wildcards in the first level do not match names that begin with `$` [MQTT-4.7.2-1]."""
        names = topic.split("/")
        takes_wildcards = not topic.startswith("$")
        reached = [self._root]
        for name in names:
            following = []
            for level in reached:
                if takes_wildcards:
                    if (rest := level.below.get("#")) is not None:
                        yield rest
                    if (any_one := level.below.get("+")) is not None:
                        following.append(any_one)
                if (exact := level.below.get(name)) is not None:
                    following.append(exact)
            takes_wildcards = True
            reached = following
            if not reached:
                return
        for level in reached:
            yield level
            if (rest := level.below.get("#")) is not None:  # `a/#` matches `a` too
                yield rest
