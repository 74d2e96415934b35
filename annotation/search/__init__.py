"""The search page of the desk: a conversation with the corpora of a project, and what comes of it."""
