"""Simulated workers: scripted people who work on a stage through the same pages as everybody.

profiles.py  what kinds of people there are, and the mixes of them
accounts.py  their tokens at the marketplace, and their mark on our side
http.py      their browser
page.py      reading a task page as a form
answers.py   what they answer, and how long it takes them
people.py    one person's way through HITs
run.py       a crowd of them, by threads, until nothing is left to do

Whatever they do, they do over HTTP: the marketplace's worker API, our task page, the marketplace's submit
address. Nothing here writes an answer into a table. They are marked simulated before they start, for ever.
"""
