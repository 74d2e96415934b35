"""The language of a page: workers and visitors read their own; the API and the protocol stay English.

    /join/TOKEN/?lang=de      # this page and those that follow, remembered by Django's cookie for languages
    remember(request, "sw")   # what a profile says, for this session

First what an address asks for or asked for before, then the profile, then the browser, then English. The desk
of researchers speaks `DESK_LANGUAGES`, and only when somebody chose one.
"""

import re
from collections.abc import Callable, Sequence

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers

#: The parameter of an address, and the key in the session.
PARAMETER, _KEY = "lang", "language"
#: Pages that are English for all readers: half of their texts would be, and programs read some.
_ENGLISH = re.compile(
    r"/(?:requester|admin|api|releases|leaderboards|examples|worker-api|health|metrics|\.well-known"
    r"|llms\.txt|mturk/test|accounts/members)(?:/|$)"
)
_DESK = re.compile(r"/desk(?:/|$)")
#: English, and what the catalogues of `DESK_LANGUAGES` in the Makefile have.
DESK_LANGUAGES = ("en", "de")


class LanguageMiddleware:
    """Has everything inside speak the page's language, and what this thread does next English again.

    Django's own leaves its language in the thread, where the protocol, answered before it, would find it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer in the language; remember one that the address asks for."""
        if not has_languages(request):
            with translation.override(settings.LANGUAGE_CODE):
                return self.get_response(request)
        language = language_of(request)
        with translation.override(language):
            response = self.get_response(request)
        response.headers.setdefault("Content-Language", language)
        if "no-store" not in response.headers.get("Cache-Control", ""):
            patch_vary_headers(response, ("Accept-Language", "Cookie"))
        asked = _asked(request)
        if asked and asked != request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME):
            response.set_cookie(
                settings.LANGUAGE_COOKIE_NAME,
                asked,
                max_age=settings.LANGUAGE_COOKIE_AGE,
                secure=settings.LANGUAGE_COOKIE_SECURE,
                httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
                samesite="Lax",
            )
        return response


def has_languages(request: HttpRequest) -> bool:
    """Whether the page has a language of its reader's."""
    return _ENGLISH.match(request.path_info) is None


def language_of(request: HttpRequest) -> str:
    """The language of a page that has languages; the browser alone does not change that of the desk."""
    if _DESK.match(request.path_info):
        language = chosen_language(request)
        return language if language in DESK_LANGUAGES else str(settings.LANGUAGE_CODE)
    return chosen_language(request) or translation.get_language_from_request(request)


def chosen_language(request: HttpRequest) -> str:
    """What somebody chose, by a link, before, or in their profile; empty where only the browser speaks."""
    kept = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    if asked := _asked(request) or _known(kept):
        return asked
    # Without its cookie a session has nothing, and asking would mark the answer as differing by it.
    return _known(request.session.get(_KEY, "")) if settings.SESSION_COOKIE_NAME in request.COOKIES else ""


def remember(request: HttpRequest, language: str) -> None:
    """Keep the language of a profile in the session; an empty one leaves it to the browser."""
    request.session[_KEY] = language


def in_templates(request: HttpRequest) -> dict[str, object]:
    """Context of every page: `languages` to choose among, each by its own name, where there are several.

    `carried_along` is what the address says beside its language.
    """
    if not has_languages(request):
        return {}
    others = [(name, value) for name, value in request.GET.items() if name != PARAMETER]
    is_desk = _DESK.match(request.path_info)
    languages = [each for each in LANGUAGES if each[0] in DESK_LANGUAGES] if is_desk else LANGUAGES
    return {"languages": languages, "carried_along": others}


def _asked(request: HttpRequest) -> str:
    return _known(request.GET.get(PARAMETER, ""))


def _known(tag: str) -> str:
    """Our code of a language for a tag such as de, pt-BR or zh."""
    return _BY_TAG.get(tag.lower().replace("_", "-").partition("-")[0], "")


#: Codes with what the languages call themselves.
LANGUAGES = [(code, translation.get_language_info(code)["name_local"]) for code, _ in settings.LANGUAGES]
_NAMES = dict(LANGUAGES)
_BY_TAG = {code.partition("-")[0]: code for code, _ in settings.LANGUAGES}


def wanted_languages(request: HttpRequest) -> list[str]:
    """Tags of languages that somebody chose here or a browser asks for, the first one first."""
    parts = request.headers.get("Accept-Language", "")[:300].split(",")
    tags = [chosen_language(request), *(part.partition(";")[0].strip() for part in parts)]
    return [form for tag in tags if tag for form in (tag, tag.partition("-")[0])]


def first_language(wanted: Sequence[str], offered: Sequence[str]) -> str:
    """The first of the languages on offer that somebody wants; empty: none of them."""
    by_tag = {each.lower().partition("-")[0]: each for each in reversed(offered)}
    by_tag |= {each.lower(): each for each in offered}
    return next((by_tag[tag.lower()] for tag in wanted if tag.lower() in by_tag), "")


def catalogue_language(tag: str) -> str:
    """The language of our catalogues for a tag; English where there is none."""
    return _known(tag) or str(settings.LANGUAGE_CODE)


def name_of(tag: str) -> str:
    """What a language calls itself; the tag where we do not know it."""
    return str(_NAMES.get(tag.lower(), tag))


def keep_language(request: HttpRequest, address: str) -> str:
    """The address, which has no query, with the language asked for: frames of other sites keep no cookie."""
    asked = _asked(request)
    return f"{address}?{PARAMETER}={asked}" if asked else address
