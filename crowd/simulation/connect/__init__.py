"""The far side of CloudResearch Connect, for rehearsals: `manage.py panel-simulator --contract connect`.

projects.py     drafts, going live, pausing, places, costs
assignments.py  who comes and finishes, decisions, bonuses, messages
control.py      the clock and people: what no panel offers
server.py       calls, tokens that are remembered, errors

State, faults, clock and HTTP are those of the other simulated panel. The contract is from third parties: a
public client of 2024 and public scripts of 2026; the vendor's own reference was not read.
"""
