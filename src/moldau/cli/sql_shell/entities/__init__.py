"""The answers of `POST /ksql` as text for people. One document of the answer is an entity; "@type" says which.

`lists.py` has those that are tables, `descriptions.py` DESCRIBE and EXPLAIN. An entity of an unknown type is printed as
JSON: nothing that a server says is lost.
"""

from collections.abc import Mapping
from typing import Any

from moldau.cli.sql_shell.entities.descriptions import DESCRIPTIONS
from moldau.cli.sql_shell.entities.lists import LISTS
from moldau.cli.sql_shell.grid import Style
from moldau.cli.sql_shell.values import json_text

_RENDERERS = {**LISTS, **DESCRIPTIONS}


def entity_lines(entity: Mapping[str, Any], style: Style) -> list[str]:
    render = _RENDERERS.get(str(entity.get("@type")))
    lines = render(entity, style) if render else [json_text(entity)]
    warnings = [f"Warning: {each.get('message', each)}" for each in entity.get("warnings") or ()]
    return [*lines, *warnings]
