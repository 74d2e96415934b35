"""Simulated workers: scripted people who work on a stage through the same pages as everybody.

accounts.py    tokens of workers at the marketplace, their mark on our side, their browser
answers.py     what kinds of people there are, what they answer, and how long it takes them
people.py      one person's way through HITs, or through a study link
run.py         a crowd of them, by threads, until nothing is left to do
panel.py       people of study links, and of a panel whose simulator is installed
simulators.py  what the distribution `panel-simulator` brings

Whatever they do, they do over HTTP: the marketplace's worker API, our task page, the marketplace's submit
address. Nothing here writes an answer into a table. They are marked simulated before they start, for ever.
"""
