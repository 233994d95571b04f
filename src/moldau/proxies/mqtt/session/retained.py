"""The retained messages: the last one of each topic name that was published to be kept."""

from collections.abc import Callable, Iterator

from moldau.proxies.mqtt.session.messages import Message

Settle = Callable[[object | None], None]
"""Called with the outcome of a write, None when it went well."""


class _Level:
    __slots__ = ("below", "message")

    def __init__(self) -> None:
        self.below: dict[str, _Level] = {}
        self.message: Message | None = None


def nothing(_error: object | None) -> None:
    """What there is to settle for a message that is not retained."""


class RetainedMessages:
    """Finds the retained messages that a filter matches, without a walk over all of them."""

    def __init__(self) -> None:
        self._root = _Level()
        self.count = 0

    def put(self, message: Message) -> None:
        """An empty payload removes the topic's message [MQTT-3.3.1-10], [MQTT-3.3.1-11]."""
        if not message.payload:
            self.remove(message.topic)
            return
        level = self._root
        for name in message.topic.split("/"):
            level = level.below.setdefault(name, _Level())
        self.count += level.message is None
        level.message = message

    def put_until_stored(self, message: Message) -> Settle:
        """Puts a message that is being written: who subscribes meanwhile must not miss it.

        The function to call with the outcome: after a failure the message before it is back, unless there is a newer
        one.
        """
        before = self.get(message.topic)
        self.put(message)
        now = self.get(message.topic)

        def settle(error: object | None) -> None:
            if error is None or self.get(message.topic) is not now:
                return
            if before is None:
                self.remove(message.topic)
            else:
                self.put(before)

        return settle

    def remove(self, topic: str) -> None:
        path: list[tuple[_Level, str]] = []
        level = self._root
        for name in topic.split("/"):
            below = level.below.get(name)
            if below is None:
                return
            path.append((level, name))
            level = below
        self.count -= level.message is not None
        level.message = None
        while path and level.message is None and not level.below:
            level, name = path.pop()
            del level.below[name]

    def get(self, topic: str) -> Message | None:
        level = self._root
        for name in topic.split("/"):
            below = level.below.get(name)
            if below is None:
                return None
            level = below
        return level.message

    def matching(self, filter_text: str) -> Iterator[Message]:
        """Wildcards in the first level do not match names that begin with `$` [MQTT-4.7.2-1]."""
        names = filter_text.split("/")
        reached = [self._root]
        for number, name in enumerate(names):
            if name == "#":
                for level in reached:
                    yield from self._all(level, is_top=number == 0)
                return
            if name == "+":
                reached = [
                    below
                    for level in reached
                    for key, below in level.below.items()
                    if number or not key.startswith("$")
                ]
            else:
                reached = [level.below[name] for level in reached if name in level.below]
        for level in reached:
            if level.message is not None:
                yield level.message

    def _all(self, level: _Level, *, is_top: bool) -> Iterator[Message]:
        """Of a level and all below it; `a/#` matches `a` too."""
        waiting = [level]
        while waiting:
            level = waiting.pop()
            if level.message is not None:
                yield level.message
            waiting += [below for name, below in level.below.items() if not (is_top and name.startswith("$"))]
            is_top = False
