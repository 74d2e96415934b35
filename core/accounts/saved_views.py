"""Lists as people filtered and sorted them: saved under a name, shown beside the list, removed again."""

from django import forms, template
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template import Context
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from core.accounts.models import SavedView

register = template.Library()
#: Views that a person may have of one list.
MOST = 30


class SavedViewForm(forms.ModelForm[SavedView]):
    """A name for the list as it is; without a query it is the list as it begins."""

    query = forms.CharField(required=False, max_length=2000)

    class Meta:
        model = SavedView
        fields = ("path", "name", "query")

    def clean_path(self) -> str:
        """An address of this site, for the page goes back to it."""
        path: str = self.cleaned_data["path"]
        if not path.startswith("/") or not url_has_allowed_host_and_scheme(path, allowed_hosts=None):
            raise forms.ValidationError("This is no page of this site.")
        return path

    def clean_query(self) -> str:
        """What filters and sorts: a view begins at its first page."""
        parameters = QueryDict(self.cleaned_data["query"], mutable=True)
        for name in ("page", "format"):
            parameters.pop(name, None)
        return parameters.urlencode()


@require_POST
@login_required
def save_view(request: HttpRequest) -> HttpResponse:
    """Keep the list under a name, in place of the view that had it; or remove the view of this name."""
    user = request.user
    assert isinstance(user, User)
    form = SavedViewForm(request.POST)
    if not form.is_valid():
        name, errors = next(iter(form.errors.items()))
        return HttpResponse(f"{name}: {errors[0]}", status=422, content_type="text/plain; charset=utf-8")
    path, name, query = (form.cleaned_data[field] for field in ("path", "name", "query"))
    views = SavedView.objects.filter(user=user, path=path)
    if request.POST.get("remove"):
        removed, _ = views.filter(name=name).delete()
        sentence = f"The view “{name}” is removed." if removed else f"There is no view “{name}”."
        messages.info(request, sentence)
        return redirect(path)
    if views.exclude(name=name).count() >= MOST:
        messages.error(request, f"Nothing was saved: this list has {MOST} views. Remove one first.")
    else:
        SavedView.objects.update_or_create(user=user, path=path, name=name, defaults={"query": query})
        messages.success(request, f"The view “{name}” is saved.")
    return redirect(f"{path}?{query}" if query else path)


@register.simple_tag(takes_context=True)
def saved_views(context: Context) -> QuerySet[SavedView]:
    """The user's views of the list on this page."""
    request: HttpRequest = context["request"]
    return SavedView.objects.filter(user=request.user.pk, path=request.path).order_by("name")
