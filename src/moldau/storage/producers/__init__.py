"""The idempotent and transactional producers of one log (KIP-98). Start at `producer_state.py`, which is pure.

Only `log` changes this state. The broker reads it through `PartitionLog.producers`.
"""
