"""The controller: elects the leaders of partitions and moves replicas. Pure except for `runner` and `writing`.

Used by `cluster.member` and `node`. Start reading with `machine`.
"""
