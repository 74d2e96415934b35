"""Notifications: what happens to HITs, put into the queues that requesters read."""
