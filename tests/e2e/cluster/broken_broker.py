"""`moldau broker` with its most important rule broken: a record counts as committed once the leader alone has it.

The checker of histories must find out.
"""

import sys

from moldau.cli.main import main
from moldau.cluster.replication.in_sync import InSyncReplicas


def leader_alone(_self: InSyncReplicas, leader_end_offset: int, *_: object, **__: object) -> int:
    return leader_end_offset


if __name__ == "__main__":
    setattr(InSyncReplicas, "high_watermark", leader_alone)  # noqa: B010 A method is replaced on purpose.
    sys.exit(main())
