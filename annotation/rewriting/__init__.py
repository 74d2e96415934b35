"""A page where somebody writes an answer anew that a reviewer asked about: reached by a signed link, once."""
