"""Files to try the system with, and the smallest kind of stage (poll)."""
