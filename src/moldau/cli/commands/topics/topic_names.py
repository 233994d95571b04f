"""Topic names that collide in metrics, and replica assignments in the syntax of kafka-topics. Pure."""

from collections.abc import Collection

INTERNAL = "__"


def clash_warning(topic: str, others: Collection[str]) -> str | None:
    """Metric names replace '.' with '_', so topics that differ only there would share their metrics."""
    if "." in topic and "_" in topic:
        return f"Warning: the name '{topic}' contains both '.' and '_'. Metrics write both as '_', so use only one."
    mine, theirs = (".", "_") if "." in topic else ("_", ".")
    if mine not in topic:
        return None
    other = next((name for name in sorted(others) if theirs in name and not name.startswith(INTERNAL)), None)
    if other is None:
        return None
    return (
        f"Warning: '{topic}' contains '{mine}', and '{other}' contains '{theirs}'. Metrics write both as '_', "
        "so use only one."
    )


def parse_assignment(text: str) -> list[list[int]]:
    """`0:1,1:2`: commas separate partitions, colons the replicas of each. Raises ValueError with the reason."""
    assignment = []
    for number, part in enumerate(text.split(",")):
        replicas = [one.strip() for one in part.split(":")]
        if not all(one.isdecimal() for one in replicas):
            raise ValueError(f"'{part}' for partition {number} is not a list of broker ids")
        if len(set(replicas)) < len(replicas):
            raise ValueError(f"'{part}' for partition {number} names a broker twice")
        assignment.append([int(one) for one in replicas])
    if len({len(replicas) for replicas in assignment}) > 1:
        raise ValueError("all partitions must have the same number of replicas")
    return assignment
