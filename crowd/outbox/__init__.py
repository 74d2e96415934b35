"""The outbox: every call that costs or changes something at a marketplace, done exactly once.

planning.py   a row and its reservation, in the caller's transaction
dispatch.py   claim, commit `sent`, call, commit the result
calls.py      which call of the adapter an operation is
results.py    what a result changes in our rows
reconcile.py  finding out what became of calls that nobody answered
"""
