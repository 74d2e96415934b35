"""Tables that people bring or take away: encodings, workbooks, numbers, cells that no spreadsheet runs."""
