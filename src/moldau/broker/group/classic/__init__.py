"""The classic protocol: JoinGroup, SyncGroup, Heartbeat and LeaveGroup, with a leader that assigns.

Start with `requests`. `classic_group` is the group as a value, `classic_evolution` applies one fact to it. Imported
by the machine and by `migration`.
"""
