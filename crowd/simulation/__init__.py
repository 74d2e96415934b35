"""Simulated workers and panels: scripted people who work on a stage through the same pages as everybody.

accounts.py  tokens of workers at the marketplace, their mark on our side, their browser
answers.py   what kinds of people there are, what they answer, and how long it takes them
people.py    one person's way through HITs, or through a study link
run.py       a crowd of them, by threads, until nothing is left to do
panel.py     a panel that answers for as long as a block runs, and sends its participants
connect.py   the far side of one panel
prolific_*   the far side of another, `manage.py panel-simulator`; Connect's shares its calls and state:

prolific_server.py       HTTP: which call is which rule, reading calls, faults on the way, writing answers
prolific_calls.py        what a call may carry, and what it gets back
prolific_studies.py      drafts, publishing, places, costs
prolific_submissions.py  arrival, completion, review, bulk approval, bonuses
prolific_account.py      workspaces and their money, projects, groups, messages, screeners
prolific_hooks.py        subscriptions, events, deliveries and their signatures, faults
prolific_control.py      the clock and people: what no panel offers
prolific_state.py        one SQLite file, one transaction per call

Nothing in the panels is Django's. What Prolific answers is known from its published contract and from reports
of the field; nothing was compared with Prolific itself.

Whatever they do, they do over HTTP: the marketplace's worker API, our task page, the marketplace's submit
address. Nothing here writes an answer into a table. They are marked simulated before they start, for ever.
"""
