"""The outbox: every call that costs or changes something at a marketplace, done exactly once.

calls.py      a row and its reservation, in the caller's transaction; which call of the adapter it is
dispatch.py   claim, commit `sent`, call, commit the result
results.py    what a result changes in our rows
reconcile.py  finding out what became of calls that nobody answered
epoch.py      noticing that the database is older than what it last did
"""
