"""A page where somebody writes an answer again because a reviewer asked: reached by a signed link, once."""
