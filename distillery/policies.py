"""The head field Content-Security-Policy, composed once for each policy that pages have."""

from dataclasses import asdict

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

#: Policies with addresses of requesters in them are many; then it begins with none again.
_MOST = 500


class PolicyMiddleware(CSPMiddleware):
    """django-csp's own, but for composing the policy, which took a twentieth of every short page."""

    _composed: dict[str, str] = {}

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Set it where the page has none and wants one."""
        if settings.DEBUG or getattr(settings, "CONTENT_SECURITY_POLICY_REPORT_ONLY", None):
            return super().process_response(request, response)
        if HEADER in response or getattr(response, "_csp_exempt", False):
            return response
        parts = self.get_policy_parts(request, response)
        key = f"{settings.CONTENT_SECURITY_POLICY!r} {parts!r}"
        policy = self._composed.get(key)
        if policy is None:
            if len(self._composed) >= _MOST:
                self._composed.clear()
            policy = self._composed[key] = build_policy(**asdict(parts))
        response.headers[HEADER] = policy
        return response
