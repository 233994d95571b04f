"""What is wrong with a record's data."""

from moldau.core.errors import MoldauError


class DataError(MoldauError):
    """A value does not fit its schema, a format or a transformation. The text says which field, why and the cure."""
