"""The topology of a query, to see before it is logged whether it can run."""

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.sql.analysis.plan import QueryPlan
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.translation.query import topology_of


def topology_that_runs(plan: QueryPlan, target: SourceInfo, query_id: str) -> Topology:
    """SqlError where there is none."""
    try:
        return topology_of(plan, target, query_id)
    except ConfigError as wrong:
        raise SqlError(f"the query cannot run: {wrong}") from None
