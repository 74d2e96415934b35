"""The far side of Prolific's API, for rehearsals and tests: `manage.py panel-simulator`.

server.py       HTTP: which call is which rule, reading calls, faults on the way, writing answers
calls.py        what a call may carry, and what it gets back
studies.py      drafts, publishing, places, costs
submissions.py  arrival, completion, review, bulk approval, bonuses
account.py      workspaces and their money, projects, groups, messages, screeners
hooks.py        subscriptions, events, deliveries and their signatures, faults
control.py      the clock and people: what no panel offers
state.py        one SQLite file, one transaction per call

Nothing here is Django's. What Prolific answers is known from its published contract and from reports of the
field; nothing was compared with Prolific itself.
"""
