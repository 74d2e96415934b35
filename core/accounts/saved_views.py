"""Lists as people filtered and sorted them: saved under a name, shown beside the list, removed again."""

from django import forms, template
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template import Context
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from core.accounts.models import SavedView

register = template.Library()
#: Views that a person may have of one list.
MOST = 30


class SavedViewForm(forms.ModelForm[SavedView]):
    """A name for the list as it is."""

    class Meta:
        model = SavedView
        fields = ("path", "name", "query")

    def clean_path(self) -> str:
        """An address of this site, for the page goes back to it."""
        path: str = self.cleaned_data["path"]
        if not path.startswith("/") or not url_has_allowed_host_and_scheme(path, allowed_hosts=None):
            raise forms.ValidationError("This is no page of this site.")
        return path


@require_POST
@login_required
def save_view(request: HttpRequest) -> HttpResponse:
    """Keep the list under a name; the same name again means this list from now on."""
    user = request.user
    assert isinstance(user, User)
    form = SavedViewForm(request.POST)
    if not form.is_valid():
        name, errors = next(iter(form.errors.items()))
        return HttpResponse(f"{name}: {errors[0]}", status=422, content_type="text/plain; charset=utf-8")
    path, name = form.cleaned_data["path"], form.cleaned_data["name"]
    own = SavedView.objects.filter(user=user, path=path)
    if request.POST.get("remove"):
        own.filter(name=name).delete()
        return redirect(path)
    if own.exclude(name=name).count() < MOST:
        SavedView.objects.update_or_create(
            user=user, path=path, name=name, defaults={"query": form.cleaned_data["query"]}
        )
    return redirect(f"{path}?{form.cleaned_data['query']}")


@register.simple_tag(takes_context=True)
def saved_views(context: Context) -> QuerySet[SavedView]:
    """The user's views of the list on this page."""
    request: HttpRequest = context["request"]
    return SavedView.objects.filter(user=request.user.pk, path=request.path).order_by("name")
