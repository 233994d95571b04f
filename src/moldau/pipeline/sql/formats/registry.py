"""Schemas in the registry, over HTTP. The only module of this package with I/O."""

from collections.abc import Mapping

from moldau.pipeline.sql.formats.infer import SubjectSchema


def subject_of(topic: str, *, is_key: bool) -> str:
    """TopicNameStrategy."""
    return f"{topic}-{'key' if is_key else 'value'}"


class SchemaFinder:
    """Finds and registers schemas. Raises `ServiceAway` while the registry does not answer.

    Holds no connection; each process keeps one client for each URL and settings.
    """

    def __init__(self, url: str, settings: Mapping[str, str] | None = None) -> None:
        self._url = url
        self._settings = tuple(sorted((settings or {}).items()))

    def latest(self, subject: str) -> SubjectSchema | None:
        """The newest schema of a subject, with its id and references; None where there is no such subject."""
        raise NotImplementedError

    def by_id(self, schema_id: int) -> SubjectSchema | None:
        raise NotImplementedError

    def registered(self, subject: str, schema: SubjectSchema) -> int:
        """The id of the schema under the subject, registered there if it was not. SqlError if it is rejected."""
        raise NotImplementedError
