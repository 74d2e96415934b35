"""Projects: who works on what, with which budget, and the log of what was done."""
