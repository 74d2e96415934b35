"""Three readings of "all terms were lower-cased" (Mitra et al. 2016, Table 2), which names no tokeniser.

Of these, `fit` is the one under which all five printed values of
pa-BLEU come out; it stands in the profile `distillery-2016`.
"""

import re

from metrics.tokens.tokeniser import Tokeniser

_NO_MARKS = str.maketrans({"\u2019": "'", ",": None, ".": None})
_SINGLE = str.maketrans({"\u2019": " ' ", "'": " ' ", ",": " , ", ".": " . "})
_FIT = str.maketrans({"\u2019": " ' ", "'": " ' ", ".": " . "})
_CENTIMETRES = re.compile(r"(\d)cm\b")


def _plain(text: str) -> list[str]:
    return text.lower().translate(_NO_MARKS).split()


def _marks(text: str) -> list[str]:
    return text.lower().translate(_SINGLE).split()


def _fit(text: str) -> list[str]:
    return _CENTIMETRES.sub(r"\1 cm", text.lower().translate(_FIT)).split()


#: Lower case; commas and full stops deleted; split on white space.
PLAIN = Tokeniser("distillery-plain", _plain)
#: Lower case; each comma, full stop and apostrophe is a token; split on white space.
MARKS = Tokeniser("distillery-marks", _marks)
#: Lower case; each full stop and apostrophe is a token, a comma stays with its word, "135cm" is two tokens.
FIT = Tokeniser("distillery-fit", _fit)
