"""The far side of Prolific's API, for rehearsals and tests: `manage.py panel-simulator`.

server.py       HTTP: reading calls, faults on the way, writing answers
routes.py       which call is which rule, and who may call
bodies.py       what a call may carry
studies.py      drafts, publishing, places, costs
submissions.py  arrival, completion, review, bulk approval, bonuses
answers.py      what a call gets back: answers, errors in their forms, pages of lists
account.py      workspaces, projects, groups, messages, screeners
wallet.py       what is locked, what is paid
hooks.py        subscriptions, events, deliveries
signatures.py   keys and tokens of secure links
faults.py       what goes wrong on the way
control.py      the clock and people: what no panel offers
state.py        one SQLite file, one transaction per call

Nothing here is Django's. What Prolific answers is known from its published contract and from reports of the
field; nothing was compared with Prolific itself.
"""
