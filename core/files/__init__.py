"""Files read and written: tables, JSON, workbooks, encodings, compression, limits, safe cells."""
