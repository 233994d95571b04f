"""Who may do what: rules of access as Kafka has them, decided from memory."""
