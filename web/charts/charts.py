"""The charts of a campaign, made with Altair: what is drawn of which rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from web.charts.plot import Plot, axis_of_names, specified

_WIDTH, _ROW = 460, 26
#: Names of bars that find their place side by side.
_MOST_LEVEL = 10
#: Letters that fit side by side over the width of a chart.
_MOST_LETTERS = 76
BEFORE, AFTER = "before filters", "after filters"

Rows = Sequence[Mapping[str, Any]]


def scores_by_system(rows: Rows, *, low: float, high: float, says: str, signature: str = "") -> Plot:
    """Mean human score per system with its interval.

    Rows: `system`, `step` (before or after filters), `mean`, `low`, `high` (None where there is no interval),
    `answers`. `low` and `high` are the ends of the scale.
    """
    import altair as alt

    order = list(dict.fromkeys(row["system"] for row in rows))
    steps = [step for step in (BEFORE, AFTER) if any(row["step"] == step for row in rows)]
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    base = alt.Chart().encode(
        y=alt.Y("system:N", sort=order, title=None, axis=axis_of_names(order)),
        yOffset=alt.YOffset("step:N", sort=steps),
        color=alt.Color("step:N", sort=steps, scale=alt.Scale(domain=[BEFORE, AFTER])),
    )
    interval = base.mark_rule(size=3).encode(
        x=alt.X("low:Q", scale=scale, title="mean human score, 95 % interval over answers"), x2="high:Q"
    )
    mean = base.mark_point(size=70).encode(x=alt.X("mean:Q", scale=scale))
    height = max(2, len(order) * len(steps)) * _ROW
    chart = alt.layer(interval, mean).properties(width=_WIDTH, height=height)
    return Plot("Score by system", says, rows, specified(chart), signature)


def scores_given(rows: Rows, *, says: str, signature: str = "") -> Plot:
    """How often each score was given. Rows: `score`, `step`, `judgments`."""
    return _bars("Scores given", "score", "judgments", rows, says=says, signature=signature)


def spread(rows: Rows, *, says: str, signature: str = "") -> Plot:
    """How much people disagree. Rows: `deviation` (class of the standard deviation), `answers`."""
    title = "sample standard deviation of an answer's scores"
    return _bars(
        "Spread within answers", "deviation", "answers", rows, says=says, signature=signature, axis=title
    )


def sizes(rows: Rows, *, says: str, signature: str = "") -> Plot:
    """How many judgments answers have. Rows: `judgments`, `answers`."""
    return _bars("Judgments per answer", "judgments", "answers", rows, says=says, signature=signature)


def time_and_score(rows: Rows, *, says: str, signature: str = "") -> Plot:
    """One judge's time against their scores. Rows: `time` (class of seconds), `score`, `judgments`."""
    import altair as alt

    times = list(dict.fromkeys(row["time"] for row in rows))
    chart = (
        alt.Chart()
        .mark_circle(opacity=0.85)
        .encode(
            x=alt.X("time:O", sort=times, title="time of the HIT", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("score:O", sort=_in_order(rows) or "descending"),
            size=alt.Size("judgments:Q", scale=alt.Scale(range=[0, 500]), legend=None),
        )
        .properties(width=_WIDTH, height=190)
    )
    return Plot("Time and score", says, rows, specified(chart), signature)


def judge_and_crowd(rows: Rows, *, says: str, signature: str = "") -> Plot:
    """One judge's scores beside everybody's. Rows: `score`, `who` (all judges, this judge), `percent`."""
    import altair as alt

    order = ["all judges", "this judge"]
    classes = _in_order(rows)
    chart = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X(
                "score:O", axis=alt.Axis(labelAngle=-45 if classes else 0), sort=classes or alt.Undefined
            ),
            xOffset=alt.XOffset("who:N", sort=order),
            y=alt.Y("percent:Q", title="percent of their judgments"),
            color=alt.Color("who:N", sort=order, scale=alt.Scale(domain=order)),
        )
        .properties(width=_WIDTH, height=200)
    )
    return Plot("Scores beside the crowd's", says, rows, specified(chart), signature)


def submissions(rows: Rows, *, says: str, signature: str = "") -> Plot:
    """Submissions over time. Rows: `hour` (ISO 8601, UTC), `submissions`."""
    import altair as alt

    chart = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X(
                "utcyearmonthdatehours(hour):T",
                title="UTC",
                axis=alt.Axis(format="%-d %b %H:%M", labelOverlap="greedy", labelSeparation=8),
            ),
            y=alt.Y("submissions:Q", title="submissions per hour", axis=alt.Axis(tickMinStep=1, tickCount=5)),
        )
        .properties(width=_WIDTH, height=180)
    )
    return Plot("Submissions over time", says, rows, specified(chart), signature)


def _in_order(rows: Rows) -> list[Any]:
    """Classes of scores in the order of the rows; nothing where scores are numbers, which sort themselves."""
    names = list(dict.fromkeys(row["score"] for row in rows))
    return names if any(isinstance(name, str) for name in names) else []


def _bars(title: str, across: str, up: str, rows: Rows, *, says: str, signature: str, axis: str = "") -> Plot:
    """Bars; of two steps the later one stands before the earlier one, which it is a part of."""
    import altair as alt

    order = list(dict.fromkeys(row[across] for row in rows))
    texts = [each for each in order if isinstance(each, str)]
    long = max(map(len, texts), default=0) * len(order) > _MOST_LETTERS
    angle = -45 if texts and (len(order) > _MOST_LEVEL or long) else 0
    below = alt.Axis(labelAngle=angle, labelOverlap="greedy")
    chart = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X(f"{across}:O", sort=order, title=axis or across, axis=below),
            y=alt.Y(f"{up}:Q", stack=None, title=up, axis=alt.Axis(tickMinStep=1, tickCount=5)),
        )
        .properties(width=_WIDTH, height=200)
    )
    if any(row.get("step") == AFTER for row in rows):
        steps = [BEFORE, AFTER]
        chart = chart.encode(
            color=alt.Color("step:N", sort=steps, scale=alt.Scale(domain=steps)),
            order=alt.Order("step:N", sort="descending"),
        )
    return Plot(title, says, rows, specified(chart), signature)
