"""No lost update: what a form showed of a row, and whether it is still so when the form is saved."""
