"""Metadata and rules that a new version inherits from the version before it and from the configuration. Pure."""

import re

from moldau.registry.entities import RULE_GROUPS, VERSION_PROPERTY, Json, SchemaText


def populated(
    schema: SchemaText, previous: SchemaText | None, config: Json, version: int | None
) -> SchemaText:
    """The schema's own values replace the configuration's defaults; the configuration's overrides replace both.

    `version` is the number that goes into the metadata where the metadata asks for it; None leaves it as it is.
    """
    own_metadata, own_rules = schema.metadata, schema.rule_set
    if own_metadata is None and previous is not None:
        own_metadata = previous.metadata
    if own_rules is None and previous is not None:
        own_rules = previous.rule_set
    metadata = _merged_metadata(
        _merged_metadata(config.get("defaultMetadata"), own_metadata), config.get("overrideMetadata")
    )
    rules = _merged_rules(
        _merged_rules(config.get("defaultRuleSet"), own_rules), config.get("overrideRuleSet")
    )
    if version is not None and metadata and VERSION_PROPERTY in metadata.get("properties", {}):
        metadata = with_version(metadata, version)
    if metadata is None and rules is None:
        return schema
    return schema.with_rules(metadata, rules)


def with_version(metadata: Json | None, version: int) -> Json:
    properties = {**(metadata or {}).get("properties", {}), VERSION_PROPERTY: str(version)}
    found = {**(metadata or {}), "properties": dict(sorted(properties.items()))}
    return {part: found[part] for part in ("tags", "properties", "sensitive") if part in found}


def noted_version(metadata: Json | None) -> int | None:
    """The version number in a schema's metadata."""
    text = (metadata or {}).get("properties", {}).get(VERSION_PROPERTY, "")
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,10}", text) else None


def is_same_metadata(own: Json | None, stored: Json | None, stored_version: int) -> bool:
    """Whether `own` matches `stored`, the metadata of a version with that number.

    A stored version number may be missing in `own`. When none is stored, one in `own` must be the number of the
    version.
    """
    noted, known = noted_version(own), noted_version(stored)
    if noted is None and known is not None:
        return (own or {}) == _without_version(stored)
    if noted is not None and known is None:
        return noted == stored_version and _without_version(own) == (stored or {})
    return own == stored


def _without_version(metadata: Json | None) -> Json:
    found = dict(metadata or {})
    properties = {key: value for key, value in found.get("properties", {}).items() if key != VERSION_PROPERTY}
    if properties:
        return {**found, "properties": properties}
    found.pop("properties", None)
    return found


def _merged_metadata(first: Json | None, second: Json | None) -> Json | None:
    if first is None or second is None:
        return second if first is None else first
    merged: Json = {}
    for part in ("tags", "properties"):
        both = {**first.get(part, {}), **second.get(part, {})}
        if both:
            merged[part] = dict(sorted(both.items()))
    sensitive = sorted({*first.get("sensitive", ()), *second.get("sensitive", ())})
    return {**merged, "sensitive": sensitive} if sensitive else merged


def _merged_rules(first: Json | None, second: Json | None) -> Json | None:
    """A rule in the second set replaces the rule with the same name in the first."""
    if first is None or second is None:
        return second if first is None else first
    merged: Json = {}
    for group in RULE_GROUPS:
        later = second.get(group, [])
        names = {rule.get("name") for rule in later}
        rules = [rule for rule in first.get(group, []) if rule.get("name") not in names] + later
        if rules:
            merged[group] = rules
    enable_at = second.get("enableAt") or first.get("enableAt")
    return {**merged, "enableAt": enable_at} if enable_at else merged
