"""Programs that act for people: their tokens, and replies to requests that may come again."""
