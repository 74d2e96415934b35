"""A study as one file: project, members, endpoints and stages in TOML, checked, compared and applied.

schema.py, values.py   what may stand in the file, as pydantic models; web forms are made from the same
locate.py              from a field's path to its line
reading.py             from a file to a study, or to all its problems at once
explain.py             what pydantic says, in words, with a remedy
problems.py            a problem: code, file, line, field, words, remedy
documents.py           what is in the database, in the file's terms
planning.py            the differences, and why some of them are not possible
applying.py            making them so, in one transaction
notation.py            TOML as text
writing.py             the file of a project in the database
wording.py             differences in a line
reference.py           tables of all fields, for the documentation
"""
