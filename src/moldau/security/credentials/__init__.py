"""What logins are checked against: SCRAM credentials of users, delegation tokens. Pure.

The forms are Kafka's: `scram_credential` reads and writes a credential as Kafka keeps it in the settings of a user.
"""
