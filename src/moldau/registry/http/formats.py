"""`?format=`: a schema with its references resolved, or as a Protobuf descriptor."""

from moldau.registry.entities import StoredSchema
from moldau.registry.http.call import Call


async def formatted(call: Call, stored: StoredSchema) -> str | None:
    """None means the text as it is stored."""
    wanted = call.query.get("format", "").strip()
    if not wanted:
        return None

    def text() -> str:
        parsed = call.registry.parser.parse_stored(stored)
        if wanted == "resolved":
            return parsed.resolved()
        serialized = getattr(parsed, "serialized", None)
        return str(serialized()) if wanted == "serialized" and serialized else parsed.canonical

    found: str = await call.run(text)
    return found
