"""Addresses of this app's pages of the desk; each view checks who may see it (`web.access`)."""

from django.urls import URLPattern, path

from judgments.desk import agreement, comparison, filters, judges, planning, questionnaire, systems

app_name = "judgments"
_P = "projects/<slug:project>/"
_S = f"{_P}stages/<slug:stage>/"
_J = f"{_S}judging/"
_QUALITY: list[URLPattern] = [
    path(f"{_J}agreement/", agreement.agreement, name="agreement"),
    path(f"{_J}agreement/live/", agreement.agreement_live, name="agreement_live"),
    path(f"{_J}agreement/calculate/", agreement.calculate, name="calculate"),
    path(f"{_J}agreement/cancel/", agreement.cancel, name="cancel_report"),
    path(f"{_J}agreement/report.json", agreement.report_json, name="report_json"),
    path(f"{_J}agreement/<slug:figure>.csv", agreement.figure_csv, name="figure_csv"),
    path(f"{_J}plots/<slug:plot>.<str:form>", agreement.of_stage, name="plot"),
    path(f"{_J}filters/", filters.filters, name="filters"),
    path(f"{_J}filters/apply/", filters.apply, name="apply_filter"),
    path(f"{_J}filters/top-up/", filters.top_up, name="top_up"),
    path(f"{_J}filters/<int:pk>/undo/", filters.undo, name="undo_filter"),
    path(f"{_J}scores/", judges.scores, name="scores"),
    path(f"{_J}scores.csv", judges.scores_csv, name="scores_csv"),
    path(f"{_J}judges/", judges.judges, name="judges"),
    path(f"{_J}judges/<int:pk>/", judges.judge, name="judge"),
    path(f"{_J}judges/<int:pk>/exclude/", judges.exclude, name="exclude_judge"),
    path(f"{_J}judges/<int:pk>/plots/<slug:plot>.<str:form>", agreement.of_judge, name="judge_plot"),
    path(f"{_J}planning/", planning.planning, name="planning"),
]
_QUESTIONNAIRES: list[URLPattern] = [
    path(f"{_S}results/", questionnaire.results, name="results"),
    path(f"{_S}results/calculate/", questionnaire.calculate, name="calculate_results"),
    path(f"{_S}results/<str:path>", questionnaire.results_file, name="results_file"),
    path(f"{_S}units/", questionnaire.units, name="units"),
    path(f"{_S}units/import/", questionnaire.bring_units, name="import_units"),
    path(f"{_S}units/take/<slug:source>/", questionnaire.take_written_nuggets, name="take_nuggets"),
    path(f"{_S}units.jsonl", questionnaire.units_file, name="units_file"),
]
_SYSTEMS: list[URLPattern] = [
    path(f"{_P}systems/", systems.listing, name="systems"),
    path(f"{_P}systems/comparison/", comparison.compare, name="compare_results"),
    path(f"{_P}systems/human/", systems.human, name="human"),
    path(f"{_P}systems/copies/", systems.refresh, name="refresh_exact"),
    path(f"{_P}systems/<int:pk>/", systems.system, name="system"),
    path(f"{_P}systems/<int:pk>/answers.csv", systems.download, name="system_csv"),
    path(f"{_P}systems/<int:pk>/keep-copies/", systems.keep_copies, name="keep_copies"),
    path(f"{_P}systems/answers/<int:pk>/", systems.candidate, name="candidate"),
    path(f"{_P}systems/answers/<int:pk>/take-out/", systems.take_out, name="take_out"),
    path(f"{_P}systems/answers/<int:pk>/put-back/", systems.back, name="put_back"),
    *systems.IMPORTS.paths(f"{_P}systems/imports/"),
    path(f"{_P}systems/imports/<int:pk>/", systems.source, name="source"),
]
urlpatterns: list[URLPattern] = [*_SYSTEMS, *_QUALITY, *_QUESTIONNAIRES]
