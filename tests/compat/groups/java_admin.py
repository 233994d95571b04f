"""Groups and transactions through the Java client's Admin, and Kafka's command-line tools."""

from collections.abc import Collection, Mapping
from typing import Any

from compat.groups.java_member import offsets_read, offsets_written, places_read
from compat.groups.java_pipe import JavaPipe
from compat.groups.member import Committed, Place

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
DUMP_LOG = "kafka.tools.DumpLogSegments"


class JavaAdmin:
    name = "java"

    def __init__(self, pipe: JavaPipe, bootstrap: str) -> None:
        self.pipe = pipe
        self.bootstrap = bootstrap

    def call(self, operation: str, **arguments: Any) -> Any:
        return self.pipe.call("admin", operation, bootstrap=self.bootstrap, **arguments)

    def list_groups(self) -> dict[str, str]:
        """Each with its state."""
        return {group: entry["state"] for group, entry in self.call("list_groups").items()}

    def describe_group(self, group: str) -> dict[str, Any]:
        """State, type, assignor and, by client id, what each member has."""
        described: dict[str, Any] = self.call("describe_group", group=group)
        described["members"] = {
            member["client_id"]: {**member, "id": member_id, "assignment": places_read(member["assignment"])}
            for member_id, member in described["members"].items()
        }
        return described

    def delete_group(self, group: str) -> None:
        self.call("delete_group", group=group)

    def group_offsets(self, group: str) -> dict[Place, Committed]:
        return offsets_read(self.call("group_offsets", group=group))

    def alter_group_offsets(self, group: str, offsets: Mapping[Place, Committed]) -> None:
        self.call("alter_group_offsets", group=group, offsets=offsets_written(offsets))

    def delete_group_offsets(self, group: str, places: Collection[Place]) -> None:
        self.call("delete_group_offsets", group=group, partitions=[list(place) for place in places])

    def remove_static_member(self, group: str, instance: str) -> None:
        self.call("remove_static_member", group=group, instance=instance)

    def alter_group_config(self, group: str, name: str, value: str) -> None:
        self.call("alter_group_config", group=group, name=name, value=value)

    def end_offset(self, topic: str, *, committed: bool, partition: int = 0) -> int:
        """Where the log ends for readers of that isolation level."""
        offset: int = self.call("end_offset", topic=topic, partition=partition, committed=committed)
        return offset

    def active_producers(self, topic: str, partition: int = 0) -> list[dict[str, int]]:
        producers: list[dict[str, int]] = self.call("active_producers", topic=topic, partition=partition)
        return producers

    def describe_transaction(self, transactional_id: str) -> dict[str, Any]:
        described: dict[str, Any] = self.call("describe_transaction", transactional_id=transactional_id)
        return described

    def tool(self, main: str, *arguments: str) -> str:
        """What the tool prints; it is given the broker's address."""
        return self.run(main, "--bootstrap-server", self.bootstrap, *arguments)

    def run(self, main: str, *arguments: str) -> str:
        printed: str = self.pipe.call("tool", "tool", main=main, arguments=list(arguments))
        return printed
