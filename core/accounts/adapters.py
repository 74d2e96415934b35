"""How django-allauth works here: its protocols and tables, our pages, sessions, limits and letters."""

import base64
import secrets
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.translation import gettext

from core.accounts.confirmation import address_of_prompt
from core.accounts.emails import warn_person
from core.accounts.interrupted_forms import is_way_back
from core.accounts.security import client_address
from core.crypto import seal, unseal

BACKEND = "django.contrib.auth.backends.ModelBackend"
#: What secrets of factors are sealed for.
SEALED_FOR = "accounts.factors"
#: What a person is told by e-mail when something about their factors changes.
_CHANGES = {
    "mfa/email/totp_activated": "An authenticator app was set up for your account",
    "mfa/email/totp_deactivated": "An authenticator app was removed from your account",
    "mfa/email/recovery_codes_generated": "New recovery codes were made for your account",
    "mfa/email/webauthn_added": "A passkey was added to your account",
    "mfa/email/webauthn_removed": "A passkey was removed from your account",
}


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # theirs have no types
    """Signs people in by our backend, and says nothing that our pages do not say."""

    def get_login_stages(self) -> list[str]:
        """A factor, for those who have one."""
        return ["allauth.mfa.stages.AuthenticateStage"]

    def login(self, request: HttpRequest, user: Any) -> None:
        """By the backend whose name is in every session."""
        login(request, user, backend=BACKEND)

    def post_login(self, request: HttpRequest, user: Any, **login_state: Any) -> HttpResponse:
        """Go on where the person wanted to go, by way of the question for a second factor."""
        address = login_state.get("redirect_url") or resolve_url(settings.LOGIN_REDIRECT_URL)
        # People who come back to what they typed are not held up.
        prompt = "" if is_way_back(request, address) else address_of_prompt(user, address)
        return HttpResponseRedirect(prompt or address)

    def is_reauthentication_required(self, *, app: str, **_: Any) -> bool:
        """Our views ask by themselves (`confirmation.confirmed`)."""
        return False

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """None of the library's pages: ours is `factor_views.confirm`."""
        return []

    def is_ajax(self, request: HttpRequest) -> bool:
        """Only `LoginWebAuthnView` asks: what a browser needs for a passkey is always JSON."""
        return True

    def get_client_ip(self, request: HttpRequest) -> str:
        """As everywhere here."""
        return client_address(request)

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Accounts are made by our own pages."""
        return False

    def add_message(  # noqa: PLR0917 - theirs
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        """Sentences alone: our views say the rest."""
        if message:
            messages.add_message(request, level, message, extra_tags=extra_tags)

    def send_notification_mail(
        self,
        template_prefix: str,
        user: Any,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        """Tell the person in our words."""
        if what := _CHANGES.get(template_prefix):
            warn_person(user, what)


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets of factors are sealed, as all secrets are that must be read again."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": gettext("This code is not right, or was used already. Wait for the next one."),
    }

    def encrypt(self, text: str) -> str:
        """Sealed."""
        return seal(text, purpose=SEALED_FOR)

    def decrypt(self, encrypted_text: str) -> str:
        """The secret; another one, of which nobody knows a code, where no known key opens it."""
        lost = base64.b32encode(secrets.token_bytes(20)).decode()
        return unseal(encrypted_text, purpose=SEALED_FOR) or lost

    def get_totp_label(self, user: Any) -> str:
        """User names are unique here; addresses need not be there."""
        return str(user.get_username())

    def get_public_key_credential_user_entity(self, user: Any) -> dict[str, Any]:
        """The same name for passkeys."""
        entity: dict[str, Any] = super().get_public_key_credential_user_entity(user)
        return entity | {"name": user.get_username(), "display_name": user.get_username()}

    def generate_authenticator_name(self, user: Any, type: Authenticator.Type) -> str:
        """What a further passkey is called, unless the person says otherwise."""
        assert isinstance(user, User)
        number = Authenticator.objects.filter(user=user, type=type).count() + 1
        return gettext("Passkey %(number)s") % {"number": number}


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Providers come from the settings alone."""

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[Any]:
        """Without rows of the table, which nobody fills."""
        return [app for app in super().list_apps(request, provider, client_id) if app.pk is None]
