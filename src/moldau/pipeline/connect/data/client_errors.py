"""Why a Kafka client cannot reach its brokers: a wrong password, or TLS that does not fit. What its requests raise only
says that nobody has answered."""

from typing import Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

POLL_S: Final = 0.1


class ClientErrors:
    """`note` is the client's `error_cb`."""

    def __init__(self) -> None:
        self._last = ""

    def note(self, error: KafkaError) -> None:
        if error.code() != KafkaError._ALL_BROKERS_DOWN:
            self._last = error.str()

    def text_of(self, failure: KafkaException, client: AdminClient) -> str:
        """The reason, if the client has told one."""
        client.poll(POLL_S)
        return self._last or str(failure.args[0].str())
