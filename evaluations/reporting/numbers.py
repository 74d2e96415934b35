"""Numbers as papers print them: three decimals, no zero before the point, a real minus."""

MINUS = "\u2212"
_LEAST_P = 0.001
#: A space at which no line is broken.
_CLOSE = "\u00a0"


def short(value: float, places: int = 3) -> str:
    """`.423`, `-.035`, `1.000`, `12.500`; what rounds to nothing has no sign."""
    text = f"{abs(value):.{places}f}"
    sign = MINUS if value < 0 and float(text) != 0 else ""
    return sign + (text.removeprefix("0") if places else text)


def between(low: float, high: float, places: int = 3) -> str:
    """`[.366, .480]`."""
    return f"[{short(low, places)}, {short(high, places)}]"


def probability(p: float) -> str:
    """`.012`, or `< .001`."""
    return f"<{_CLOSE}{short(_LEAST_P)}" if p < _LEAST_P else short(p)


def p_is(p: float) -> str:
    """`p = .012` or `p < .001`."""
    sign = "" if p < _LEAST_P else f"={_CLOSE}"
    return f"p{_CLOSE}{sign}{probability(p)}"


def whole(value: float) -> str:
    """`1,000`."""
    return f"{value:,.0f}"


def percent(share: float) -> str:
    """`56.6 %`."""
    return f"{100 * share:.1f}{_CLOSE}%"


def listed(words: list[str], most: int = 6) -> str:
    """`a`, `a and b`, `a, b and c`; of many the first ones and how many more there are."""
    if len(words) > most:
        return f"{', '.join(words[: most - 1])} and {len(words) - most + 1} others"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
