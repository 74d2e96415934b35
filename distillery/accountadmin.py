"""People, groups and passwords in the admin: the only rows that it changes, and over no unseen change."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac

from core.accounts.models import PasswordState
from core.revisions import mark_of

#: Columns that change without anybody's doing, or with a page of their own.
_NOT_COMPARED = frozenset({"last_login", "password"})


class RevisedModelForm(forms.ModelForm[Any]):
    """A form of the admin that carries what it showed, and saves over nothing that changed since."""

    revision = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.pk is not None:
            self.fields["revision"].initial = self._mark(self.instance)

    def clean(self) -> dict[str, Any] | None:
        """ValidationError where the stored row, locked from here on, is another than the page showed."""
        cleaned = super().clean()
        if self.instance.pk is None:
            return cleaned
        rows = type(self.instance)._base_manager.select_for_update()
        row = rows.filter(pk=self.instance.pk).first()
        if row is None or not constant_time_compare(self.data.get("revision", ""), self._mark(row)):
            raise ValidationError(
                "This was changed after you opened this page, by another person or in another tab. Nothing "
                "was saved. Open the page again to see it as it is now, then make your change."
            )
        return cleaned

    def _mark(self, row: Model) -> str:
        names = set(self.fields) - _NOT_COMPARED
        several = [field.name for field in row._meta.many_to_many if field.name in names]
        chosen = [(name, sorted(getattr(row, name).values_list("pk", flat=True))) for name in sorted(several)]
        text = f"{mark_of(row, names)} {chosen}"
        return salted_hmac("accounts.admin", text, algorithm="sha256").hexdigest()


class RevisedUserForm(RevisedModelForm, UserChangeForm):  # type: ignore[type-arg]
    """Django's own form of an account."""


class ColumnReferences:
    """`_to_field` in an address names a column; the name of a relation to other rows is answered with 400.

    Django looks at an attribute that only columns have, so that such a name ended in an error.
    """

    opts: Any

    def to_field_allowed(self, request: HttpRequest, to_field: str) -> bool:
        """Whether other rows may be referred to by this column."""
        columns = {field.name for field in self.opts.get_fields() if field.concrete}
        allowed: Any = super().to_field_allowed  # type: ignore[misc]  # of ModelAdmin, beside it
        return to_field in columns and bool(allowed(request, to_field))


admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class RevisedUserAdmin(ColumnReferences, UserAdmin[User]):
    """Django's own pages of accounts."""

    form = RevisedUserForm

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """With the hidden field where an account is changed."""
        shown = super().get_fieldsets(request, obj)
        return shown if obj is None else (*shown, (None, {"fields": ("revision",)}))


@admin.register(Group)
class RevisedGroupAdmin(ColumnReferences, GroupAdmin):
    """Django's own pages of groups."""

    form = RevisedModelForm


@admin.register(PasswordState)
class PasswordStateAdmin(ColumnReferences, admin.ModelAdmin[PasswordState]):
    """Tick `must change` after setting a password for somebody."""

    form = RevisedModelForm
    list_display = ("user", "must_change")
    list_select_related = ("user",)
