"""What is searched of a passage: its text, and before it its title as a sentence of its own.

Titles say what a passage is about and seldom say it again in it. Measured on judged sets whose passages have
titles, leaving them out costs CROWN more than it gains; see docs/crown.md.
"""


def with_title(title: str, text: str) -> str:
    """Both with an empty line between, which ends a sentence; the text alone where there is no title."""
    return f"{title}\n\n{text}" if title else text
