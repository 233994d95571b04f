"""The classic protocol: JoinGroup, SyncGroup, Heartbeat and LeaveGroup, with a leader that assigns.

Start at `requests`; `classic_group` is what a group is, `evolution` how one fact changes it. Imported by the machine,
and by `migration`.
"""
