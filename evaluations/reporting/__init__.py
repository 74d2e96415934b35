"""What an evaluation looks like: its sentence, tables, plots and the page of them all."""
