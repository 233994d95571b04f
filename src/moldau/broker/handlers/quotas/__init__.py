"""Handlers of quotas, over `security/quotas/` and the settings of users, clients and addresses. Only `handlers`
imports them.
"""
