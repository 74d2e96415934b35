"""The simulator of panels as a Django app: its commands."""
