"""The report of an evaluation: its typed model, and what it looks like as page, tables, plots and files."""
