"""The consumer protocol (KIP-848): one heartbeat, and the broker assigns.

Start at `heartbeat`; `consumer_group` is what a group is, `evolution` how one fact changes it, `assignors` say who gets
what. Imported by the machine, and by `migration`.
"""
