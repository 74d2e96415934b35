"""Names of what somebody may not do because of what they did before.

Kinds of stages agree on them and need not know each other: whoever screened or curated a query gets
`distil(query)` and writes no answer to it; whoever wrote one gets `judge(query)` and judges none of them.
"""


def distil(query: int) -> str:
    """Writing an answer to this query."""
    return f"query:{query}:distil"


def judge(query: int) -> str:
    """Judging answers to this query."""
    return f"query:{query}:judge"
