"""Bars that pages draw without a library."""

from web.charts import stack_bars


def parts(bar):
    return {part.name: (part.y, part.height) for part in bar.parts}


def test_the_highest_bar_fills_the_chart_unless_a_scale_is_chosen():
    chart = stack_bars(
        [("a", {"earned": 200, "pending": 200}), ("b", {"earned": 0, "pending": 100}), ("c", {"earned": 0})]
    )
    assert (chart.width, chart.height, chart.highest) == (30, 120, 400)
    first, second, third = chart.bars
    assert parts(first) == {"earned": (60, 60), "pending": (0, 60)}
    assert parts(second) == {"pending": (90, 30)}
    assert parts(third) == {}
    assert [(bar.subject, bar.x) for bar in chart.bars] == [("a", 1), ("b", 11), ("c", 21)]
    chart = stack_bars([("a", {"earned": 0})], fewest=20)
    assert (chart.highest, chart.width, parts(chart.bars[0])) == (0, 200, {})
    assert stack_bars([]).bars == []
    chart = stack_bars([("a", {"done": 5})], highest=20)
    assert parts(chart.bars[0]) == {"done": (90, 30)}
