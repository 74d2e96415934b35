"""Tables on pages, in files and in the database.

Columns, filters, orders, pages of long lists, cells that no spreadsheet runs; rows in bulk, and queries whose
SQL is composed once.
"""
