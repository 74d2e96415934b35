"""The evaluation sections of five papers on other data, beside what the papers print (`manage.py paper`).

A paper is a module here with one `PAPER` (`report.Paper`): its number, what data it needs, the list of all
its tables and figures, its sample, and `build(data, settings)`, which gives one `report.PaperItem` for each
of them in their order:

    def build_items(data: PaperData, settings: PaperSettings) -> list[PaperItem]: ...

    PAPER = Paper("002", "Lee et al. 2021 …", needs="…", items={"Table 1": "Statistics …", …},
                  sample=("papers/002.csv",), build=build_items)

and a line in `report.MODULES`. `PaperData` holds what `--data`, `--model` and the options of tables said;
`data.opened(source)` opens a source as a table of answers, `score_source` scores one. An item is `compared`
(rows beside printed ones: "same" or "differs by … because …") or `not_made` (why the data do not give it).
"""
