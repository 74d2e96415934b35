"""What every app needs, and what knows nothing of queries, HITs or requesters.

accounts/  sign-in, sessions, keys of programs, limits of failed tries
jobs/      durable jobs: the row is the job
projects/  projects, their members and their history
notices/   what people should know, on pages and by mail
crypto/    secrets that the database holds encrypted
files/     tables that people bring: formats, encodings, cells
money.py      amounts, fees, bank accounts, currencies
storage.py    where files lie that are no rows: folders and buckets, one shelf, states of a folder
rates.py      limits that hold over all hosts
bulk_rows.py  rows in bulk, without an instance per row
errors.py     why something cannot be done, in words; what happens when a block fails
revisions.py  whether a row is still as a form showed it
"""
