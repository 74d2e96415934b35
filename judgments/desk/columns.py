"""The tables of this app's pages: which columns they have, and what they can be filtered and sorted by."""

from operator import attrgetter
from typing import Any

from core.money import dollars
from judgments.selectors import candidates, judges
from judgments.selectors.judges import Judge
from web.tables import Choices, Column, Grid, Words

SYSTEMS = Grid(
    "systems",
    columns=(
        Column("system", "System", attrgetter("system.name"), by="name"),
        Column("kind", "Kind", attrgetter("system.kind"), on_page=False),
        Column("answers", "Answers", attrgetter("answers"), by="answers", down=True, number=True),
        Column("judge", "To judge", attrgetter("to_judge"), by="to_judge", down=True, number=True),
        Column("exact", "Same as a reference", attrgetter("exact"), by="exact", down=True, number=True),
        Column("empty", "No answer", attrgetter("empty"), by="empty", down=True, number=True),
        Column(
            "out", "Taken out", lambda row: row.withdrawn + row.query_out, by="out", down=True, number=True
        ),
        Column("judged", "Judged", attrgetter("judged"), by="judged", down=True, number=True),
        Column("judgments", "Judgments", attrgetter("judgments"), by="judgments", down=True, number=True),
        Column("mean", "Mean score", attrgetter("mean"), by="mean", down=True, number=True),
    ),
    order="system",
)
#: Its file has columns of its own, which are read without a model instance per row.
OF_SYSTEM = Grid(
    "answers",
    columns=(
        Column("text", "Answer", by="text"),
        Column("query", "Query", by="query__text"),
        Column("state", "State", by="aside"),
        Column("judged", "Judgments", by="judgment_count", down=True, number=True),
        Column("mean", "Mean score", by="mean_score", down=True, number=True, gaps=True),
        Column("number", "Number", by="pk", on_page=False),
    ),
    filters=(
        Words("q", "Words of the answer or the query, or its id"),
        Choices("state", "Which", candidates.STATES),
    ),
    order="number",
    aliases={"best": "mean", "worst": "-mean"},
)
#: Its file begins with a signature and has columns of its own.
SCORES = Grid(
    "scores",
    columns=(
        Column("query", "Answer", by="query"),
        Column("system", "System"),
        Column("mean", "Mean", by="mean", down=True, number=True),
        Column("sd", "SD", by="sd", down=True, number=True),
        Column("n", "Judgments", by="n_kept", number=True),
        Column("median", "Median", number=True),
        Column("trimmed", "Trimmed", number=True),
        Column("adjusted", "Adjusted", number=True),
    ),
    order="mean",
    aliases={"best": "mean", "worst": "-mean", "disputed": "sd", "fewest": "n"},
)


def _ranked(value: Any) -> Any:
    """Who has few judgments stands behind all others, whatever is sorted by."""
    return lambda row: value(row) if row.enough else None


def _failed_share(row: Judge) -> float | None:
    return row.failed / row.presented if row.presented else None


def _pay(row: Judge) -> str | None:
    return None if row.per_hour is None else dollars(row.per_hour)


JUDGES = Grid(
    "judges",
    columns=(
        Column("judge", "Judge", attrgetter("name"), by="name", key=_ranked(attrgetter("name"))),
        Column("simulated", "Simulated", attrgetter("simulated"), on_page=False),
        Column(
            "ratings",
            "Judgments",
            attrgetter("ratings"),
            by="n",
            down=True,
            key=_ranked(attrgetter("ratings")),
        ),
        Column("fastest", "Median time", attrgetter("seconds"), by="s", key=_ranked(attrgetter("seconds"))),
        Column("kappa", "Kappa", attrgetter("kappa"), by="kappa", key=_ranked(attrgetter("kappa"))),
        Column("kappa_n", "Kappa of", attrgetter("kappa_n"), on_page=False),
        Column("presented", "Checks shown", attrgetter("presented"), on_page=False),
        Column("failed", "Checks failed", attrgetter("failed"), on_page=False),
        Column("checks", "Checks passed", by="checks", down=True, key=_ranked(_failed_share)),
        Column(
            "removed",
            "Removed",
            attrgetter("removed_share"),
            by="removed",
            down=True,
            key=_ranked(attrgetter("removed_share")),
        ),
        Column("verdict", "Rule", attrgetter("verdict"), on_page=False),
        Column("pay", "Pay per hour", _pay, by="pay", down=True, key=_ranked(attrgetter("per_hour"))),
        Column("flags", "Flags", attrgetter("flags")),
        Column("excluded", "Excluded", attrgetter("excluded"), on_page=False),
    ),
    filters=(Choices("show", "Which judges", judges.SHOWN, tabs=True), Words("q", "Judge")),
    order="kappa",
)
