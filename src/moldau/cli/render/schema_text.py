"""Schemas as text: pretty-printed, compared line by line, and the reasons for a rejection."""

import difflib
import json
from collections.abc import Sequence
from typing import Any

CONTEXT_LINES = 2
UPGRADE_ORDER = {
    "NONE": "No compatibility check: producers and consumers must coordinate themselves.",
    "BACKWARD": "Upgrade the consumers first: the new schema reads what the last version wrote.",
    "BACKWARD_TRANSITIVE": "Upgrade the consumers first: the new schema reads what all versions wrote.",
    "FORWARD": "Upgrade the producers first: the last version reads what the new schema writes.",
    "FORWARD_TRANSITIVE": "Upgrade the producers first: all versions read what the new schema writes.",
    "FULL": "Upgrade in any order: the new schema and the last version read each other's data.",
    "FULL_TRANSITIVE": "Upgrade in any order: the new schema and all versions read each other's data.",
}


def laid_out(text: str, schema_type: str) -> str:
    """Pretty-prints JSON. Protobuf stays unchanged."""
    if schema_type == "PROTOBUF":
        return text.rstrip("\n")
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text.rstrip("\n")


def diff(old: str, new: str, schema_type: str, old_name: str, new_name: str) -> str:
    """Empty if only the formatting differs."""
    lines = difflib.unified_diff(
        laid_out(old, schema_type).splitlines(),
        laid_out(new, schema_type).splitlines(),
        old_name,
        new_name,
        lineterm="",
        n=CONTEXT_LINES,
    )
    return "\n".join(line for line in lines if not line.startswith("@@"))


def rejection_text(clashes: Sequence[dict[str, Any]], messages: Sequence[str]) -> str:
    """One paragraph per incompatibility. Registries other than Moldau's give only `messages`."""
    if not clashes:
        return "\n".join(f"  - {message}" for message in messages)
    return "\n".join(_paragraph(clash) for clash in clashes)


def _paragraph(clash: dict[str, Any]) -> str:
    place = f"{clash.get('rule')} at {clash.get('path') or '/'}, version {clash.get('version')}"
    lines = [f"  x {clash.get('reason')}", f"    ({place}, {clash.get('direction')})"]
    if clash.get("change"):
        lines.append(f"    To pass: {clash['change']}.")
    return "\n".join(lines)
