"""The retained messages: the last one of each topic name that was published to be kept.

They are records of a topic that proxies share, and the order of the records counts. A message that this proxy is
writing is shown at once, until its record has come.
"""

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


class Write:
    """A message on its way to the topic. `placed` may be called on any thread, the others on the event loop."""

    __slots__ = ("_has_failed", "_is_settled", "_messages", "_offset", "message")

    def __init__(self, messages: "RetainedMessages", message: Message) -> None:
        self._messages = messages
        self.message = message
        self._offset: int | None = None
        self._is_settled = self._has_failed = False

    def placed(self, offset: int) -> None:
        """Where its record is, if the transaction is committed. The last call counts."""
        self._offset = offset

    def settle(self, error: object | None) -> None:
        """The outcome."""
        self._is_settled, self._has_failed = True, error is not None
        self._messages.look_at(self.message.topic)

    def is_over(self, end: int) -> bool:
        """Whether it has failed, or the records before `end` include its own."""
        if not self._is_settled:
            return False
        return self._has_failed or self._offset is None or self._offset < end


class RetainedMessages:
    """Finds the retained messages that a filter matches, without a walk over all of them."""

    def __init__(self) -> None:
        self._root = _Level()
        self.count = 0
        self._end = 0
        """The offset after the last record that was taken."""
        self._writes: dict[str, list[Write]] = {}
        """Of this proxy, by topic, those that are not over."""
        self._stored: dict[str, Message | None] = {}
        """What the records say meanwhile, of the same topics."""

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

    def begin(self, message: Message) -> "Write":
        """Puts a message that is being written: who subscribes meanwhile must not miss it."""
        topic = message.topic
        if topic not in self._writes:
            self._writes[topic] = []
            self._stored[topic] = self.get(topic)
        write = Write(self, message)
        self._writes[topic].append(write)
        self.put(message)
        return write

    def take(self, topic: str, message: Message | None, offset: int) -> None:
        """A record of the topic with retained messages, by any proxy. Without a message it removes one."""
        self._end = max(self._end, offset + 1)
        if topic in self._writes:
            self._stored[topic] = message
            self.look_at(topic)
        elif message is None:
            self.remove(topic)
        else:
            self.put(message)

    def take_end(self, end: int) -> None:
        """All records before this offset have been taken; compaction may have removed some. Looks at all writes."""
        self._end = max(self._end, end)
        for topic in [*self._writes]:
            self.look_at(topic)

    def look_at(self, topic: str) -> None:
        """A write is over when it has failed, or its record has been taken; the last one that is not counts."""
        writes = self._writes.get(topic)
        if writes is None:
            return
        writes[:] = [one for one in writes if not one.is_over(self._end)]
        message = writes[-1].message if writes else self._stored[topic]
        if not writes:
            del self._writes[topic], self._stored[topic]
        if message is None:
            self.remove(topic)
        elif message is not self.get(topic):
            self.put(message)

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
