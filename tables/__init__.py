"""Tables on pages and in files: columns, filters, orders, pages of long lists, cells no spreadsheet runs."""
