"""A study as one file: project, members, endpoints and stages in TOML, checked, compared and applied.

schema.py     what may stand in the file, as pydantic models; web forms are made from the same
reader.py     from a file to a study, or to all its problems at once
explain.py    problems in words, with file, line, field and remedy, and differences in a line
documents.py  what is in the database, in the file's terms, and as TOML
planning.py   the differences, why some of them are not possible, and making them so in one transaction
reference.py  tables of all fields, for the documentation
"""
