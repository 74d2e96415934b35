"""Charts of metrics that learn, made with Altair."""

from collections.abc import Mapping, Sequence
from typing import Any

from web.charts.evaluation import NO_ZERO
from web.charts.plot import Plot
from web.charts.specs import specified

Rows = Sequence[Mapping[str, Any]]


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
    kept = alt.Chart().mark_rule(size=1, style="inkline", strokeDash=[4, 3]).encode(x=alt.datum(best))
    chart = alt.layer(line, kept).properties(width=250, height=190)
    return Plot(title, says, rows, specified(chart), signature, table=table)
