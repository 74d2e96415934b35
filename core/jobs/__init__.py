"""Durable jobs: the database row is the job, the message only a hint."""
