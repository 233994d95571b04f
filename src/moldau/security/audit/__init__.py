"""What is worth a record of who did what: logins, denials, administrative changes. Pure; services write them down."""
