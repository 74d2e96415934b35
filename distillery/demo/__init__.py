"""The demonstration: ten real questions, the task page that asks them, and the command that posts them."""
