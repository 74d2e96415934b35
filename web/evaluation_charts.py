"""The charts of an evaluation, and of metrics that learn, made with Altair: what is drawn of which rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from web.charts import Plot, axis_of_names, specified

Rows = Sequence[Mapping[str, Any]]

_WIDTH, _ROW, _CELL, _SMALL = 330, 26, 40, 26
#: Beyond so many columns a cell is too small for its number, which the table has.
_MOST_NUMBERS = 14
_MOST_NAMES = 8
#: Below this many rows dots are drawn larger.
_FEW_ANSWERS = 200
#: So long a name fits above its column.
_SHORT_NAME = 6
#: Numbers on axes as the tables print them.
NO_ZERO = "replace(replace(datum.label, /^(\u2212|-)0\\./, '\u2212.'), /^0\\./, '.')"
ANSWER, FIFTH = "answer", "mean of a fifth"
BETTER, WORSE, ALIKE = "row agrees better", "column agrees better", "no significant difference"


def correlations(
    rows: Rows, *, title: str, marks: Mapping[str, float], groupings: Sequence[str], says: str, signature: str
) -> Plot:
    """Metrics under each other, a dot with its interval for each grouping; `marks` are lines across.

    Rows: `metric`, `grouping`, `value`, `low`, `high` (None where there is none).
    """
    import altair as alt

    order = list(dict.fromkeys(row["metric"] for row in rows))
    scale = alt.Scale(zero=False, nice=True)
    numbers = alt.Axis(labelExpr=NO_ZERO, tickCount=6)
    base = alt.Chart().encode(
        y=alt.Y("metric:N", sort=order, title=None, axis=axis_of_names(order)),
        yOffset=alt.YOffset("grouping:N", sort=list(groupings)),
        color=alt.Color(
            "grouping:N",
            scale=alt.Scale(domain=list(groupings)[::-1]),
            legend=alt.Legend(values=list(groupings), offset=12 + 12 * len(marks)),
        ),
    )
    interval = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(size=3)
        .encode(x=alt.X("low:Q", scale=scale, axis=numbers, title=f"{title}, 95 % interval"), x2="high:Q")
    )
    dot = (
        base.transform_filter("isValid(datum.value)")
        .mark_point(size=60)
        .encode(x=alt.X("value:Q", scale=scale))
    )
    layers: list[alt.Chart] = [interval, dot]
    for at, (name, value) in enumerate(marks.items()):
        once = alt.Chart().transform_aggregate(rows="count()")
        line = once.mark_rule(strokeDash=[6, 3] if at == 0 else [2, 3], size=1.5, style="inkline")
        layers.append(line.encode(x=alt.datum(value)))
        word = once.mark_text(text=name, align="right", dx=4, dy=-4 - 12 * at, baseline="bottom", fontSize=11)
        layers.append(word.encode(x=alt.datum(value), y=alt.value(0)))
    step = _ROW if len(order) < 15 else 18
    chart = alt.layer(*layers).properties(width=_WIDTH, height=max(2, len(order)) * step)
    return Plot(title, says, rows, specified(chart), signature)


def significance(rows: Rows, *, title: str, says: str, signature: str, table: Rows) -> Plot:
    """Every metric against every other. Rows: `row`, `column`, `p` (in words), `verdict`."""
    import altair as alt

    order = list(dict.fromkeys(row["row"] for row in rows))
    few = len(order) <= _MOST_NUMBERS
    size = (_CELL if few else max(10, 480 // len(order))) * len(order)
    short = len(order) <= 4 and max(map(len, order)) <= _SHORT_NAME
    names = axis_of_names(order, labelAngle=0 if short else -90, orient="top")
    base = alt.Chart().encode(
        x=alt.X("column:N", sort=order, title=None, axis=names),
        y=alt.Y("row:N", sort=order, title=None, axis=axis_of_names(order)),
    )
    verdicts = [WORSE, BETTER]
    cells = (
        base.transform_filter(f"datum.verdict !== '{ALIKE}'")
        .mark_rect(opacity=0.4)
        .encode(
            color=alt.Color(
                "verdict:N",
                scale=alt.Scale(domain=verdicts),
                legend=alt.Legend(values=verdicts[::-1], columns=1),
            )
        )
    )
    layers: list[alt.Chart] = [cells]
    if few:
        layers.append(base.mark_text(fontSize=11).encode(text="p:N"))
    chart = alt.layer(*layers).properties(width=size, height=size if not few else _SMALL * len(order))
    return Plot(title, says, rows, specified(chart), signature, table=table)


def metric_and_human(
    rows: Rows, *, title: str, low: float, high: float, says: str, signature: str, table: Rows
) -> Plot:
    """A metric across, people up; jitter is for the eye only.

    Rows: `what` (an answer, or the mean of a fifth), `metric`, `human`, and `x`, `y` where it is drawn.
    """
    import altair as alt

    edge = (high - low) * 0.05
    few = len(rows) < _FEW_ANSWERS
    base = alt.Chart().encode(
        x=alt.X(
            "x:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5, labelExpr=NO_ZERO)
        ),
        y=alt.Y(
            "y:Q",
            title="human score",
            scale=alt.Scale(domain=[low - edge, high + edge], nice=False, zero=False),
            axis=alt.Axis(tickCount=5),
        ),
    )
    answers = base.transform_filter(f"datum.what === '{ANSWER}'").mark_circle(
        size=40 if few else 14, opacity=0.6 if few else 0.35, aria=False
    )
    fifths = base.transform_filter(f"datum.what === '{FIFTH}'")
    line = fifths.mark_line(size=2, style="inkline").encode(order="x:Q")
    dots = fifths.mark_point(size=50, style="ink")
    chart = alt.layer(answers, line, dots).properties(width=250, height=190)
    return Plot(title, says, rows, specified(chart), signature, table=table)


def by_class(rows: Rows, *, title: str, what: str, says: str, signature: str, table: Rows) -> Plot:
    """One figure of each metric in each class of questions. Rows: `metric`, the class, `value`, `words`."""
    import altair as alt

    order = list(dict.fromkeys(row["metric"] for row in rows))
    classes = list(dict.fromkeys(row[what] for row in rows))
    few = len(classes) <= _MOST_NUMBERS
    base = alt.Chart().encode(
        x=alt.X(
            f"{what}:N", sort=classes, title=None,
            axis=axis_of_names(classes, limit=110, labelAngle=-45 if len(classes) > 3 else 0, orient="top"),
        ),
        y=alt.Y("metric:N", sort=order, title=None, axis=axis_of_names(order)),
    )  # fmt: skip
    cells = base.transform_filter("isValid(datum.value)").mark_rect().encode(
        opacity=alt.Opacity("value:Q", legend=None, scale=alt.Scale(range=[0.05, 0.6], zero=False))
    )  # fmt: skip
    layers = [cells, base.mark_text(fontSize=12).encode(text="words:N")] if few else [cells]
    width = max(len(classes) * (58 if few else 16), 120)
    chart = alt.layer(*layers).properties(width=width, height=max(2, len(order)) * _SMALL)
    return Plot(title, says, rows, specified(chart), signature, table=table)


def systems(rows: Rows, *, title: str, says: str, signature: str) -> Plot:
    """Systems by the mean of a metric, across, and by people, up.

    Rows: `system`, `metric`, `human`, `low`, `high` (interval of the human mean, or None).
    """
    import altair as alt

    numbers = alt.Axis(tickCount=5, labelExpr=NO_ZERO)
    x = alt.X("metric:Q", title=f"{title}, mean", scale=alt.Scale(zero=False, padding=22), axis=numbers)
    scale = alt.Scale(zero=False, padding=12)
    base = alt.Chart().encode(x=x)
    layers: list[alt.Chart] = [
        base.transform_filter("isValid(datum.low)")
        .mark_rule(size=2, opacity=0.6)
        .encode(y=alt.Y("low:Q", scale=scale, title="mean human score"), y2="high:Q"),
        base.mark_point(size=60).encode(y=alt.Y("human:Q", scale=scale)),
    ]
    if len(rows) <= _MOST_NAMES:
        names = base.mark_text(align="left", dx=8, limit=90, fontSize=11)
        layers.append(names.encode(y="human:Q", text="system:N"))
    chart = alt.layer(*layers).properties(width=250, height=190)
    return Plot(title, says, rows, specified(chart), signature)


def two_groups(
    rows: Rows, *, title: str, what: str, group: str, axis: str, says: str, signature: str, table: Rows
) -> Plot:
    """Two dots with their intervals for each metric. Rows: `metric`, the group, `value`, `low`, `high`."""
    import altair as alt

    order = list(dict.fromkeys(row[what] for row in rows))
    groups = list(dict.fromkeys(row[group] for row in rows))
    base = alt.Chart().encode(
        y=alt.Y(f"{what}:N", sort=order, title=None, axis=axis_of_names(order)),
        yOffset=alt.YOffset(f"{group}:N", sort=groups),
        color=alt.Color(f"{group}:N", sort=groups, scale=alt.Scale(domain=groups)),
    )
    x = alt.X("value:Q", title=axis, scale=alt.Scale(zero=False), axis=alt.Axis(labelExpr=NO_ZERO))
    interval = base.transform_filter("isValid(datum.low)").mark_rule(size=3)
    chart = alt.layer(
        interval.encode(x=alt.X("low:Q", scale=alt.Scale(zero=False), title=axis), x2="high:Q"),
        base.mark_point(size=60).encode(x=x),
    ).properties(width=_WIDTH, height=max(2, len(order)) * _ROW)
    return Plot(title, says, rows, specified(chart), signature, table=table)


def curve(rows: Rows, *, title: str, across: str, up: str, says: str, signature: str) -> Plot:
    """A figure as it grows with the data. Rows: `metric`, `x`, `value`, `low`, `high`."""
    import altair as alt

    axis = alt.Axis(tickCount=5, labelOverlap="greedy")
    base = alt.Chart().encode(x=alt.X("x:Q", title=across, scale=alt.Scale(zero=False), axis=axis))
    scale = alt.Scale(zero=False)
    band = base.transform_filter("isValid(datum.low)").mark_area(opacity=0.18)
    line = base.transform_filter("isValid(datum.value)").mark_line(point=True)
    y = alt.Y("value:Q", title=up, scale=scale, axis=alt.Axis(labelExpr=NO_ZERO))
    chart = alt.layer(
        band.encode(y=alt.Y("low:Q", scale=scale, title=up), y2="high:Q"), line.encode(y=y)
    ).properties(width=_WIDTH, height=190)
    return Plot(title, says, rows, specified(chart), signature)


def curves(
    rows: Rows, *, title: str, across: str, up: str, group: str, says: str, signature: str, table: Rows
) -> Plot:
    """A curve with its band for each group. Rows: the group, `x`, `value`, `low`, `high`."""
    import altair as alt

    groups = list(dict.fromkeys(row[group] for row in rows))
    scale = alt.Scale(zero=False)
    base = alt.Chart().encode(
        x=alt.X("x:Q", title=across, scale=scale, axis=alt.Axis(tickCount=5, labelOverlap="greedy")),
        color=alt.Color(f"{group}:N", sort=groups, scale=alt.Scale(domain=groups)),
    )
    band = base.transform_filter("isValid(datum.low)").mark_area(opacity=0.12)
    line = base.transform_filter("isValid(datum.value)").mark_line(point=True)
    y = alt.Y("value:Q", title=up, scale=scale, axis=alt.Axis(labelExpr=NO_ZERO))
    chart = alt.layer(
        band.encode(y=alt.Y("low:Q", scale=scale, title=up), y2="high:Q"), line.encode(y=y)
    ).properties(width=_WIDTH, height=190)
    return Plot(title, says, rows, specified(chart), signature, table=table)


# Charts of metrics that learn, made with Altair.


def epochs(rows: Rows, *, title: str, best: int, says: str, signature: str, table: Rows) -> Plot:
    """Correlations after each epoch, and a line at the one that was kept.

    Rows: `epoch`, `statistic`, `value` (None where there is none).
    """
    import altair as alt

    names = list(dict.fromkeys(row["statistic"] for row in rows))
    x = alt.X("epoch:Q", title="epoch", axis=alt.Axis(tickCount=5, tickMinStep=1, format="d"))
    base = alt.Chart().encode(x=x)
    line = (
        base.transform_filter("isValid(datum.value)")
        .mark_line(size=2)
        .encode(
            y=alt.Y(
                "value:Q",
                title="correlation with people",
                scale=alt.Scale(zero=True),
                axis=alt.Axis(tickCount=5, labelExpr=NO_ZERO),
            ),
            color=alt.Color(
                "statistic:N", scale=alt.Scale(domain=names[::-1]), legend=alt.Legend(values=names)
            ),
        )
    )
    best_line = alt.Chart().mark_rule(size=1, style="inkline", strokeDash=[4, 3]).encode(x=alt.datum(best))
    chart = alt.layer(line, best_line).properties(width=250, height=190)
    return Plot(title, says, rows, specified(chart), signature, table=table)
