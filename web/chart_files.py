"""Plots of the desk as files: drawn (SVG), as specification (Vega-Lite JSON), and their data (CSV)."""

import csv
import hashlib
import io
import json

from django.http import Http404, HttpRequest, HttpResponse

from core.files.cells import cell
from web.charts import Look, Plot, specification, svg

#: What can be asked for, and how it is called.
FORMS = {"svg": "image/svg+xml", "json": "application/json", "csv": "text/csv; charset=utf-8"}
_SECONDS = 60
#: Width of the axes where a page is narrow.
_NARROW = 200


def answer(request: HttpRequest, plot: Plot | None, name: str, form: str) -> HttpResponse:
    """The plot in one of `FORMS`; `?look=dark&narrow=1` draws it for a page that is dark and narrow.

    Http404 for what there is not.

    A browser that has the same plot already is told so (304).
    """
    if plot is None or form not in FORMS:
        raise Http404("There is no such plot.")
    text = _text(request, plot, form)
    tag = f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(text, content_type=FORMS[form])
        kind = "inline" if form == "svg" else "attachment"
        response["Content-Disposition"] = f'{kind}; filename="{name}.{form}"'
    response["ETag"] = tag
    response["Cache-Control"] = f"private, max-age={_SECONDS}"
    return response


def _text(request: HttpRequest, plot: Plot, form: str) -> str:
    if form == "svg":
        look_name = request.GET.get("look")
        look = Look(look_name) if look_name in set(Look) else Look.PAPER
        return svg(plot, look, width=_NARROW if request.GET.get("narrow") else 0)
    if form == "json":
        return json.dumps(specification(plot), ensure_ascii=False, indent=1) + "\n"
    out = io.StringIO()
    if plot.signature:
        out.write(f"# {plot.signature}\n")
    writer = csv.writer(out)
    writer.writerow(plot.columns)
    writer.writerows(
        [cell(value) if isinstance(value, str) else value for value in row.values()] for row in plot.rows
    )
    return out.getvalue()
