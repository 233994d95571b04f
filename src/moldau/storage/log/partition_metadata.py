"""`partition.metadata`: the id of the topic that a partition's directory belongs to."""

from moldau.core.ids import TopicId, topic_id_parse, topic_id_text


def topic_id_file(topic_id: TopicId) -> bytes:
    return f"version: 0\ntopic_id: {topic_id_text(topic_id)}".encode()


def parse_topic_id(data: bytes) -> TopicId | None:
    lines = data.decode(errors="replace").splitlines()
    fields = dict(line.split(": ", 1) for line in lines if ": " in line)
    try:
        return topic_id_parse(fields["topic_id"])
    except (KeyError, ValueError):
        return None
