"""Who somebody is and what they may do: logins, rules of access, quotas, keys and certificates.

Used by the broker and by every HTTP service. Decides; opens no socket and stores nothing.
"""
