"""What stands in the catalogues: everything, with the same parts, and compiled as it stands."""

import re
from gettext import GNUTranslations

from django.conf import settings

from tests.languages.catalogues import ROOT, Entry, catalogue_of, is_of_the_desk, marked_texts, read_catalogue
from web.languages import DESK_LANGUAGES

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != "en"]
#: Places for values, and marks of HTML, which a translation has as the text does.
PARTS = re.compile(r"%\(\w+\)s|%[sd]|\{[\w:,]*\}|</?\w+[^>]*>")
#: Numbers that take every form of a plural of these languages.
NUMBERS = (*range(103), 1_000_000)

#: Templates of workers and visitors, without pages of the desk; a `*` stands for every name.
WORKERS_TEMPLATES = (
    "*", "accounts/*", "crowd/*", "marketplace/site/*", "marketplace/site/parts/*",
    "marketplace/frame/*", "marketplace/questionform/*", "parts/account", "parts/errors",
    "parts/languages", "parts/pages", "parts/way_back", "poll/unit", "people/base", "people/consent",
    "people/consent_facts", "people/end", "people/foot", "people/other_device", "people/own",
    "people/own_work", "people/sentence", "people/stopped", "people/text", "annotation/screening",
    "annotation/curation", "annotation/distillation", "annotation/continuation", "annotation/rewrite",
    "annotation/parts/conversation", "annotation/parts/guide", "annotation/parts/query",
    "judgments/judging", "judgments/parts/scale", "judgments/parts/slider",
)  # fmt: skip
#: Pages of requesters and operators, and the list of components, which are English.
NOT_MARKED = {"accounts/parts_members.html", "marketplace/site/desk.html", "desk/components.html"}
#: Names, which are the same in all languages, and classes.
NAMES = {
    "Distillery",
    "· Distillery",
    "Distillery · Distillery",
    "taking-test",
    "Ctrl K",
    "HIT",
    "HITs",
    "CSV",
    "desk shell",
}
WORKERS_SCRIPTS = (
    "task", "work", "longest", "qualification-test", "annotation-marks", "judgments-slider",
    "html/questionform",
)  # fmt: skip


def test_every_language_has_every_text():
    of_workers, of_all = marked_texts(desk=False), marked_texts(desk=True)
    assert of_workers < of_all
    for language in LANGUAGES:
        marked = of_all if language in DESK_LANGUAGES else of_workers
        path = catalogue_of(language)
        entries = read_catalogue(path)[1:]
        keys = {entry.key for entry in entries}
        assert keys == marked, f"{language}: run `make messages`; {sorted(keys ^ marked)[:3]}"
        missing = [entry.text for entry in entries if not all(entry.translations)]
        assert not missing, f"{language} lacks {len(missing)} of {len(entries)} texts: {missing[:3]}"
        assert "fuzzy" not in path.read_text(encoding="utf-8"), language


def test_translations_have_the_parts_of_their_text():
    for language in LANGUAGES:
        for entry in read_catalogue(catalogue_of(language))[1:]:
            allowed = [sorted(PARTS.findall(text)) for text in (entry.text, entry.plural) if text]
            if len(entry.translations) == 6:  # Arabic says none, one and two in words: without their number
                allowed += [parts[:at] + parts[at + 1 :] for parts in allowed for at in range(len(parts))]
            for translation in filter(None, entry.translations):
                assert sorted(PARTS.findall(translation)) in allowed, (language, entry.text, translation)


def test_plurals_have_as_many_forms_as_the_head_of_their_catalogue_says():
    for language in LANGUAGES:
        head, *entries = read_catalogue(catalogue_of(language))
        forms = int(re.search(r"nplurals=(\d)", head.translations[0])[1])
        wrong = [e.text for e in entries if len(e.translations) != (forms if e.plural else 1)]
        assert not wrong, (language, wrong)


def test_heads_say_nothing_of_when_and_where_they_were_made():
    for language in LANGUAGES:
        head = read_catalogue(catalogue_of(language))[0].translations[0]
        names = {line.partition(":")[0] for line in head.splitlines()}
        assert names.isdisjoint({"POT-Creation-Date", "PO-Revision-Date", "Last-Translator"}), language


def test_catalogues_are_compiled_as_they_stand():
    for language in LANGUAGES:
        path = catalogue_of(language)
        with path.with_suffix(".mo").open("rb") as file:
            compiled = GNUTranslations(file)
        stale = [e.text for e in read_catalogue(path)[1:] if all(e.translations) and not _is_in(compiled, e)]
        assert not stale, f"{language}: run `make messages`; {stale[:3]}"


def _is_in(compiled: GNUTranslations, entry: Entry) -> bool:
    if entry.plural:
        return {compiled.ngettext(entry.text, entry.plural, n) for n in NUMBERS} == set(entry.translations)
    return [
        compiled.pgettext(entry.context, entry.text) if entry.context else compiled.gettext(entry.text)
    ] == (entry.translations)


def test_templates_with_languages_say_nothing_that_is_not_marked():
    found = {}
    folder = ROOT / "templates"
    paths = {path for name in WORKERS_TEMPLATES for path in folder.glob(f"{name}.html")}
    paths |= {path for path in folder.rglob("*.html") if is_of_the_desk(path)}
    for path in sorted(paths - {folder / name for name in NOT_MARKED}):
        source = re.sub(
            r"\{% comment %\}.*?\{% endcomment %\}|\{#.*?#\}"
            r"|\{% blocktranslate.*?\{% endblocktranslate %\}|<(script|style|pre)\b.*?</\1>",
            "", path.read_text(encoding="utf-8"), flags=re.DOTALL,
        )  # fmt: skip
        bare = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", "", source, flags=re.DOTALL)
        bare = re.sub(r"\{% block body_class %\}.*?\{% endblock %\}", "", bare)
        texts = re.split(r"<[^>]*>", bare) + re.findall(
            r'\b(?:aria-label|placeholder|title|alt)="([^"]*)"', bare
        )
        words = [text.strip() for text in texts if re.search(r"(?<!&)\b[A-Za-z]{2}", text)]
        if words := [text for text in words if text not in NAMES]:
            found[path.name] = words
    assert not found


def test_scripts_of_workers_pages_say_what_their_page_hands_them():
    found = [
        f"{name}: {said}"
        for name in WORKERS_SCRIPTS
        for said in re.findall(
            r"(?:say\(|textContent = |setCustomValidity\()[\"`][A-Za-z][^\"`]*",
            (ROOT / "static" / f"{name}.js").read_text(encoding="utf-8"),
        )
    ]
    assert found == []
