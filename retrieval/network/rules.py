"""Name of everything that decides which words a passage has, in which order and in which sentence."""

from retrieval.errors import NetworkBrokenError
from retrieval.text.tokens import fingerprint


def rules_of(language: str) -> str:
    """Another name, other words: a network with another name cannot be used any more."""
    return fingerprint(language)


def check_rules(language: str, rules: str) -> None:
    """NetworkBrokenError where a network was made by other rules than today's."""
    if rules != rules_of(language):
        raise NetworkBrokenError(
            f"The network has words by other rules ({rules}) than this version ({rules_of(language)}). "
            "Run manage.py wpn build with --anew."
        )
