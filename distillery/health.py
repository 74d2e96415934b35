"""`/health/` for load balancers and the supervisor: is this installation able to answer people?"""

from django.contrib.auth.models import User
from django.db import Error as DatabaseTrouble
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from distillery.version import VERSION


@require_safe
@never_cache
def health(request: HttpRequest) -> HttpResponse:
    """200 if the database answers, 503 if not, and no more to visitors; staff get the version."""
    answers = _database_answers() or _database_answers()  # twice: the first may find a connection that died
    found = {"status": "ok" if answers else "unavailable", "database": "ok" if answers else "unreachable"}
    if answers and isinstance(request.user, User) and request.user.is_staff:
        found["version"] = VERSION
    return JsonResponse(found, status=200 if answers else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseTrouble:
        connection.close()
        return False
    return True


urlpatterns = [path("", health, name="health")]
