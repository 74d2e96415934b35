"""What tells passages that say the same in the same words: a digest without case, punctuation and space."""

import re
import unicodedata
from functools import cache
from hashlib import blake2b


def _is_unseen(character: str) -> bool:
    """Punctuation, separators, controls and format characters (Unicode's general categories)."""
    category = unicodedata.category(character)
    return category[0] in "PZ" or category in ("Cc", "Cf")


_ASCII = bytes(code for code in range(128) if _is_unseen(chr(code)))


def digest_of(text: str) -> str:
    """32 hexadecimal digits, the same for texts that differ in case, punctuation and white space only."""
    if text.isascii():
        seen = text.lower().encode("ascii").translate(None, _ASCII)
    else:
        plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        seen = _unseen().sub("", plain).encode("utf-8", "surrogatepass")
    return blake2b(seen or text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@cache
def _unseen() -> re.Pattern[str]:
    """Of the basic plane: with characters beyond it the class would be tried one by one, and be slow."""
    return re.compile(f"[{re.escape(''.join(filter(_is_unseen, map(chr, range(0x10000)))))}]+")
