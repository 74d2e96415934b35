"""What every app needs, and what knows nothing of queries, HITs or requesters.

accounts/  sign-in, sessions, keys of programs, limits of failed tries
jobs/      durable jobs: the row is the job
projects/  projects, their members and their history
notices/   what people should know, on pages and by mail
money/     amounts, currencies, fees
sealing/   secrets that the database holds encrypted
storage/   where files lie that are no rows
files/     tables that people bring: formats, encodings, cells
database/  rows in bulk, and queries whose SQL is composed once
rates/     limits that hold over all hosts
errors.py    why something cannot be done, in words
revisions.py  whether a row is still as a form showed it
"""
