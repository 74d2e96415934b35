"""A page where a worker writes an answer again because a reviewer asked: reached by a signed link, once."""
