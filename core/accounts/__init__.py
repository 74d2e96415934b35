"""People who sign in: log-in, log-out, and the password that must be changed after a printed one."""
