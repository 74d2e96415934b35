"""Simulated panels: the far side of Prolific and of CloudResearch Connect, to rehearse a study.

prolific_server.py       HTTP: which call is which rule, reading calls, faults on the way, writing answers
prolific_calls.py        what a call may carry, and what it gets back
prolific_studies.py      drafts, publishing, places, costs
prolific_submissions.py  arrival, completion, review, bonuses
prolific_account.py      workspaces and their money, groups, messages, screeners
prolific_hooks.py        subscriptions, events, deliveries and their signatures, faults
prolific_control.py      the clock and people: what no panel offers
prolific_state.py        one SQLite file, one transaction per call
connect.py               Connect, with the calls and the state of the other
extension.py             what it brings to the rehearsals of the installation

What Prolific answers is known from its published contract and from reports of the field; nothing was compared
with Prolific itself.
"""
