"""What a refusal says."""

import pytest
from confluent_kafka import KafkaError

from moldau.cli.failures import Failure, refused, similar_names, unknown_topic


def test_a_refusal_says_what_to_which_thing_and_why() -> None:
    failure = refused(KafkaError(KafkaError.TOPIC_ALREADY_EXISTS), "create topic 'orders'")
    assert failure.message == "cannot create topic 'orders': it already exists."
    assert failure.code == KafkaError.TOPIC_ALREADY_EXISTS
    assert failure.exit_code == 1


def test_the_words_of_the_broker_are_kept_where_they_say_more() -> None:
    error = KafkaError(KafkaError.INVALID_CONFIG, "Unknown topic config name: foo.")
    assert (
        refused(error, "alter topic 'x'").message == "cannot alter topic 'x': Unknown topic config name: foo."
    )


def test_the_hint_stands_on_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    Failure("it broke.", "Mend it.").show()
    assert capsys.readouterr().err == "Error: it broke.\nMend it.\n"


def test_an_unknown_topic_comes_with_the_nearest_names() -> None:
    failure = unknown_topic("ordesr", "localhost:9092", ["payments", "orders", "Orders-eu"])
    assert failure.message == "there is no topic 'ordesr' at localhost:9092."
    assert failure.hint is not None and failure.hint.startswith("Did you mean 'orders'")


def test_an_unknown_topic_like_no_other_comes_with_the_way_to_make_it() -> None:
    failure = unknown_topic("zebra", "localhost:9092", ["orders"])
    assert failure.hint is not None and "`moldau topics create zebra`" in failure.hint


def test_names_are_compared_without_regard_to_case() -> None:
    assert similar_names("ORDERS", ["orders", "users"]) == ["orders"]
