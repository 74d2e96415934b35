"""Settings of a Distillery installation: one file, every choice from the environment.

Without any variable the installation runs on one machine: SQLite, the embedded file broker, and secrets
generated into the data folder. `docs/settings.md` lists every variable; a test keeps that list complete.
"""

import os
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import dj_database_url
import django_stubs_ext
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from kombu import Queue

from core import money
from distillery import env, payout_settings
from distillery.env import holds_sealed_values
from distillery.mail_server import read_mail_server
from distillery.sign_in_providers import sign_in_library_settings, sign_in_providers
from distillery.version import VERSION

# Lets generic Django classes carry their types at run time too: ModelAdmin[Worker].
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
#: Templates, static files and llms.txt of a wheel (`setup.py`); in a checkout they lie beside `manage.py`.
WHEEL_FILES = BASE_DIR / "distillery" / "files"
INSTALLED = WHEEL_FILES.is_dir()
FILES_DIR = WHEEL_FILES if INSTALLED else BASE_DIR
# Among the packages of an environment data would be lost with it.
DATA_DIR = Path(
    env.text("DATA_DIR", str(Path.home() / ".distillery" if INSTALLED else BASE_DIR / "var"))
).absolute()
#: How this installation starts a command of its own.
COMMAND = [sys.executable, "-m", "distillery"] if INSTALLED else [sys.executable, str(BASE_DIR / "manage.py")]

DATABASE_URL = env.address(
    "DATABASE_URL",
    {"postgres", "postgresql", "pgsql", "sqlite"},
    "postgres://user:password@host/name or sqlite:////path",
    f"sqlite:///{DATA_DIR / 'distillery.sqlite3'}",
)

SECRET_KEY = env.secret("SECRET_KEY", DATA_DIR / "secrets", needed=lambda: holds_sealed_values(DATABASE_URL))
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS", [])
DEBUG = env.flag("DEBUG")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
PUBLIC_URL = env.text("PUBLIC_URL").rstrip("/")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS", [PUBLIC_URL] if PUBLIC_URL else [])
BEHIND_TLS_PROXY = env.flag("BEHIND_TLS_PROXY")
if BEHIND_TLS_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
#: People reach the site encrypted: cookies go no other way and to this host alone, and browsers remember it.
HTTPS = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME, DEVICE_COOKIE_NAME, LANGUAGE_COOKIE_NAME = (
    ("__Host-session", "__Host-csrf", "__Host-device", "__Host-language")
    if HTTPS
    else ("sessionid", "csrftoken", "device", "language")
)
SECURE_HSTS_SECONDS = 365 * 86_400 if HTTPS else 0
SECURE_SSL_REDIRECT = HTTPS and BEHIND_TLS_PROXY
#: The supervisor asks on this machine, past the proxy.
SECURE_REDIRECT_EXEMPT = [r"^health/$"]
#: A session ends when nothing was asked for so long, and in any case so long after its log-in.
SESSION_COOKIE_AGE, SESSION_LONGEST_S = 12 * 3600, 14 * 86_400
SECURITY_CONTACT, SECURITY_POLICY = env.text("SECURITY_CONTACT"), env.text("SECURITY_POLICY")

INSTALLED_APPS = [
    # Of packages in `distributions/`. They come before ours, whose commands of the same names say what to
    # install where a package is missing: Django takes a command from the first app that has it.
    *sorted(point.value for point in entry_points(group="distillery.apps")),
    # Before the next, so that `distillery.admin` can take their tables out of the admin again.
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "distillery.apps.DistilleryConfig",
    "releases",
    "evaluations",
    "examples.poll",
    "annotation",
    "judgments",
    "crowd",
    "retrieval",
    "people",
    "core.notices",
    "core.api",
    "core.projects",
    "core.webhooks",
    "core.audit",
    "marketplace",
    "marketplace.heritage",
    "core.jobs",
    "core.accounts",
    "core.crypto",
    "axes",
    "csp",
    "distillery.apps.ConfirmedAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "django.contrib.staticfiles",
]

#: Called every minute while all checks of readiness pass.
PING_URL = env.text("PING_URL")
#: Programs that have it may read /metrics; without it nothing is counted.
METRICS_TOKEN = env.text("METRICS_TOKEN")
# Test controls of the marketplace, for programs that know the token: moving its clock, faults on request.
MARKETPLACE_TEST_TOKEN = env.text("MARKETPLACE_TEST_TOKEN")
# Read by prometheus_client when it is first imported.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(DATA_DIR / "monitoring")
# The SDK of OpenTelemetry reads these and more itself; here they decide whether it is used at all.
OTEL_SERVICE_NAME = env.text("OTEL_SERVICE_NAME", "distillery")
OTEL_ENDPOINT = env.text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or env.text("OTEL_EXPORTER_OTLP_ENDPOINT")
TRACES = bool(OTEL_ENDPOINT) and not env.flag("OTEL_SDK_DISABLED")
MIDDLEWARE = [
    "distillery.traces.RequestIdMiddleware",
    *(["distillery.traces.TracingMiddleware"] if TRACES else []),
    *(["distillery.traces.TimingMiddleware"] if METRICS_TOKEN else []),
    "distillery.health.ProbeMiddleware",
    "marketplace.protocol.fault_injection.FaultInjectionMiddleware"
    if MARKETPLACE_TEST_TOKEN
    else "marketplace.protocol.endpoint.ProtocolMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "web.api.middleware.ApiMiddleware",
    "distillery.middleware.StaticFilesMiddleware",
    "distillery.middleware.PolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "web.languages.LanguageMiddleware",
    "distillery.middleware.HeadersMiddleware",
    "core.accounts.middleware.SessionAgeMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "core.accounts.security.ActingMiddleware",
    "core.accounts.middleware.BodySizeMiddleware",
    "core.accounts.middleware.PasswordChangeMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "core.accounts.middleware.InterruptedFormMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "core.accounts.middleware.SignInMiddleware",
    "axes.middleware.AxesMiddleware",
    "distillery.middleware.StorageOutageMiddleware",
]

ROOT_URLCONF = "distillery.urls"
WSGI_APPLICATION = "distillery.wsgi.application"
#: Stands in the signature of every figure.
DISTILLERY_VERSION = VERSION

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [FILES_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "core.accounts.places.in_templates",
                "web.languages.in_templates",
            ],
            "builtins": ["django.templatetags.i18n"],
            # named here, they lie beside what they are about instead of in a folder for one module
            "libraries": {
                "desk": "crowd.desk.quantities",
                "distillation": "annotation.desk.hints",
                "queries": "annotation.desk.columns",
                "judgments": "judgments.desk.shades",
                "kit": "web.kit",
                "marketplace_money": "marketplace.money.amounts",
                "marketplace_time": "web.durations",
                "notices": "core.notices.bell",
                "people_pages": "people.page_addresses",
                "saved_views": "core.accounts.saved_views",
                "questionform": "marketplace.forms.form_sheet",
                "tour": "distillery.demo.tour",
            },
        },
    }
]

try:
    _database: Any = dj_database_url.parse(DATABASE_URL, conn_max_age=600, conn_health_checks=True)
except ValueError as error:
    raise ImproperlyConfigured(
        "DATABASE_URL cannot be read: the port is a number, and signs such as @ / : # in user and password "
        "are written as %40 %2F %3A %23."
    ) from error
DATABASES: dict[str, Any] = {"default": _database}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["ENGINE"] = "distillery.sqlite3"
    # Writers queue for up to 20 s instead of failing with "database is locked": measured with 20 writers.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=134217728;",
    }
# Where DATABASE_URL names a pooler in transaction mode (PgBouncer): the database itself. Then nothing is used
# that belongs to a session, and backups go past the pooler.
DATABASE_DIRECT_URL = env.address(
    "DATABASE_DIRECT_URL", {"postgres", "postgresql", "pgsql"}, "postgres://user:password@host/name"
)
if DATABASE_DIRECT_URL:
    if DATABASES["default"]["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured(
            "DATABASE_DIRECT_URL is set, and DATABASE_URL names no pooler of PostgreSQL."
        )
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = True
# Seconds that PostgreSQL lets a statement run, wait for a lock, and a transaction lie idle; 0: no limit.
DATABASE_TIMEOUTS = {
    "web": (
        env.integer("DATABASE_STATEMENT_TIMEOUT", 60),
        env.integer("DATABASE_LOCK_TIMEOUT", 20),
        env.integer("DATABASE_IDLE_TIMEOUT", 300),
    ),
    "jobs": (
        env.integer("DATABASE_JOBS_STATEMENT_TIMEOUT", 0),
        env.integer("DATABASE_JOBS_LOCK_TIMEOUT", 300),
        env.integer("DATABASE_JOBS_IDLE_TIMEOUT", 3600),
    ),
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.address("REDIS_URL", {"redis", "rediss", "unix"}, "redis://host:6379/0")
# Where rates are counted, for all hosts; empty: by each process for itself.
RATES_URL = REDIS_URL
CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost"
CELERY_BROKER_TRANSPORT = None if REDIS_URL else "distillery.celery:Transport"
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    {"socket_connect_timeout": 5, "socket_keepalive": True}
    if REDIS_URL
    else {
        "data_folder_in": str(DATA_DIR / "broker" / "queue"),
        "data_folder_out": str(DATA_DIR / "broker" / "queue"),
        "control_folder": str(DATA_DIR / "broker" / "control"),
        "processed_folder": str(DATA_DIR / "broker" / "taken"),
        "polling_interval": 0.1,
    }
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Threads for each queue, so that a slow marketplace holds up no job and a mail server no sweep.
QUEUE_THREADS = {
    "jobs": env.integer("JOBS_THREADS", 4, least=1),
    "rounds": env.integer("ROUNDS_THREADS", 16, least=1),
    "sweeps": 9,
    "notices": 5,
    "webhooks": 8,
}
CELERY_TASK_DEFAULT_QUEUE = "jobs"
CELERY_TASK_QUEUES = [Queue(name) for name in QUEUE_THREADS]
CELERY_TASK_ROUTES = {
    "crowd.round": {"queue": "rounds"},
    "crowd.tick": {"queue": "sweeps"},
    "marketplace.*": {"queue": "sweeps"},
    "jobs.reconcile": {"queue": "sweeps"},
    "distillery.ping": {"queue": "notices"},
    "distillery.*": {"queue": "sweeps"},
    "notices.*": {"queue": "notices"},
    "webhooks.deliver": {"queue": "webhooks"},
    "webhooks.*": {"queue": "sweeps"},
    "audit.*": {"queue": "sweeps"},
}
CELERY_WORKER_POOL = "distillery.celery:QueuePool"
CELERY_WORKER_CONCURRENCY = QUEUE_THREADS["jobs"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 0  # the pool says why
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"  # in memory: the schedule has nothing worth a file
CELERY_BEAT_SCHEDULE = {
    "marketplace-sweep": {"task": "marketplace.sweep", "schedule": 10.0, "options": {"expires": 10}},
    "marketplace-nightly": {"task": "marketplace.nightly", "schedule": 600.0, "options": {"expires": 600}},
    "marketplace-digests": {
        "task": "notices.marketplace_digests",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "marketplace-topics": {"task": "notices.marketplace_topics", "schedule": 5.0, "options": {"expires": 5}},
    "crowd-tick": {"task": "crowd.tick", "schedule": 5.0, "options": {"expires": 5}},
    "notices-look": {"task": "notices.look", "schedule": 60.0, "options": {"expires": 60}},
    "notices-deliver": {"task": "notices.deliver", "schedule": 60.0, "options": {"expires": 60}},
    "audit-seal": {"task": "audit.seal", "schedule": 60.0, "options": {"expires": 60}},
    "audit-nightly": {"task": "audit.nightly", "schedule": 600.0, "options": {"expires": 600}},
    "webhooks-look": {"task": "webhooks.look", "schedule": 5.0, "options": {"expires": 5}},
    "webhooks-steps": {"task": "webhooks.steps", "schedule": 60.0, "options": {"expires": 60}},
    "ping": {"task": "distillery.ping", "schedule": 60.0, "options": {"expires": 60}},
    "prune": {"task": "distillery.prune", "schedule": 3600.0, "options": {"expires": 3600}},
    "jobs-reconcile": {"task": "jobs.reconcile", "schedule": 15.0, "options": {"expires": 15}},
}

AUTHENTICATION_BACKENDS = [
    "core.accounts.guards.ThrottleBackend",
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "core.accounts.passwords.EasyPasswordValidator"},
    {"NAME": "core.accounts.passwords.BreachedPasswordValidator"},
]
# Second factors, passkeys and providers, by django-allauth behind pages, limits and sessions of our own.
SIGN_IN_PROVIDERS = sign_in_providers(env.text("SIGN_IN_PROVIDERS"))
#: Whether those who may pay or hold keys are asked for a second factor, or need one for that.
SECOND_FACTOR = env.choice("SECOND_FACTOR", "ask", {"off", "ask", "require"})
#: Minutes since the last sign-in or confirmation within which keys, payees, members and payouts may change.
REAUTHENTICATION_MINUTES = env.integer("REAUTHENTICATION_MINUTES", 15, least=1)
ACCOUNT_ADAPTER = "core.accounts.adapters.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False  # a passkey signs in where a password was typed before
ACCOUNT_SIGNUP_FIELDS = ["username*", "email"]
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False  # `core.accounts.guards` counts for all processes
MFA_ADAPTER = "core.accounts.adapters.FactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = MFA_ALLOW_UNVERIFIED_EMAIL = MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_TOLERANCE = 1
MFA_TOTP_ISSUER = "Distillery"
SOCIALACCOUNT_ADAPTER = "core.accounts.adapters.ProviderAdapter"
SOCIALACCOUNT_PROVIDERS = sign_in_library_settings(SIGN_IN_PROVIDERS)
SESSION_ENGINE = "core.accounts.sessions"
LOGIN_URL = "/accounts/login/"
#: Seconds that a link to choose a new password works.
PASSWORD_RESET_TIMEOUT = 3600
CSRF_FAILURE_VIEW = "core.accounts.views.csrf_failure"
#: Forms below these addresses lead back to their page where their session ended.
FORMS_COME_BACK_BELOW = ["/desk/", "/requester/"]
LOGIN_REDIRECT_URL = "/accounts/home/"
LOGOUT_REDIRECT_URL = "/"
# Axes keeps who signed in when; `core.accounts.guards` slows those who guess.
AXES_LOCK_OUT_AT_FAILURE = False
AXES_CLIENT_IP_CALLABLE = "core.accounts.security.client_address"
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

LANGUAGE_CODE = "en"
#: Of pages that workers and visitors see (`web.languages`); a test wants each catalogue to be complete.
LANGUAGES = [
    ("en", "English"),
    ("de", "German"),
    ("es", "Spanish"),
    ("fr", "French"),
    ("pt", "Portuguese"),
    ("zh-hans", "Simplified Chinese"),
    ("ar", "Arabic"),
    ("hi", "Hindi"),
    ("ja", "Japanese"),
    ("sw", "Swahili"),
]
LOCALE_PATHS = [BASE_DIR / "distillery" / "locale"]
FORMAT_MODULE_PATH = "distillery.formats"
LANGUAGE_COOKIE_AGE = 365 * 86_400
LANGUAGE_COOKIE_HTTPONLY = True
# For languages whose formats Django does not have: Swahili.
SHORT_DATE_FORMAT, SHORT_DATETIME_FORMAT, MONTH_DAY_FORMAT = "j M Y", "j M Y, H:i", "j M"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [FILES_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "distillery.middleware.StaticAddresses"},
}
# Files are served from where they lie; there is nothing to collect.
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 300

X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
#: Files are taken from people who are signed in, below these addresses; others' bodies end at this size.
UPLOADS_BELOW = ["/desk/", "/requester/", "/admin/"]
#: Addresses that take files from whoever has them (forms of tasks), and what says how many bytes.
UPLOADS_BY_SIGNATURE = {"/uploads/": "marketplace.site.taskpages.may_take_files"}
#: Addresses that read no byte of a body before they know the token of its sender.
UPLOADS_BY_TOKEN = ["/api/v1/"]
ANONYMOUS_BODY_MOST = 5 << 20
FILE_UPLOAD_HANDLERS = [
    "core.accounts.middleware.QuotaHandler",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
FILE_UPLOAD_PERMISSIONS = 0o600
#: A task page may have a field for every token of a long passage; Django's own limit is 1,000.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

LOG_LEVEL = env.choice("LOG_LEVEL", "WARNING", {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"})
LOG_FORMAT = env.choice("LOG_FORMAT", "plain", {"plain", "json"})
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
        "security": {"()": "distillery.traces.SecurityFormatter"},
        "json": {"()": "distillery.traces.JsonFormatter"},
    },
    "filters": {"request_id": {"()": "distillery.traces.RequestIdFilter"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["request_id"]},
        "security": {"class": "logging.StreamHandler", "formatter": "security", "filters": ["request_id"]},
    },
    # Refused protocol calls are ordinary, and the call log has them.
    "loggers": {
        "django.request": {"level": "ERROR"},
        # One line of JSON per security event, whatever LOG_LEVEL says.
        "distillery.security": {"level": "INFO", "handlers": ["security"], "propagate": False},
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
}

# A job whose worker says nothing for this long goes to another one.
JOBS_LEASE_SECONDS = env.integer("JOBS_LEASE_SECONDS", 60, least=2)
# So often a worker with nothing to do looks into the table for jobs whose message got lost.
JOBS_POLL_SECONDS = env.integer("JOBS_POLL_SECONDS", 10, least=1)

# E-mails about notices; without a mail server nothing is sent.
MAIL = read_mail_server(
    url=env.text("EMAIL_URL"),
    host=env.text("EMAIL_HOST"),
    port=env.integer("EMAIL_PORT", 0),
    user=env.text("EMAIL_HOST_USER"),
    password=env.text("EMAIL_HOST_PASSWORD"),
    tls=env.choice("EMAIL_TLS", "starttls", {"starttls", "implicit", "none"}),
    sender=env.text("DEFAULT_FROM_EMAIL"),
)
NOTICES_BY_EMAIL = MAIL is not None
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if MAIL else 'dummy'}.EmailBackend"
EMAIL_TIMEOUT = 10
if MAIL is not None:
    EMAIL_HOST, EMAIL_PORT = MAIL.host, MAIL.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.user, MAIL.password
    EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.tls == "starttls", MAIL.tls == "implicit"
    DEFAULT_FROM_EMAIL = SERVER_EMAIL = MAIL.sender

# Hosts that webhooks may be sent to although they are private or have no https: for rehearsals and tests.
WEBHOOK_TRUSTED_HOSTS = env.words("WEBHOOK_TRUSTED_HOSTS", [])

# Campaigns: where workers' browsers find our task pages.
PORT = env.integer("PORT", 8000)
TASK_URL = env.text("TASK_URL", PUBLIC_URL or f"http://127.0.0.1:{PORT}").rstrip("/")

# The marketplace.
MARKETPLACE_REGISTRATION = env.choice("MARKETPLACE_REGISTRATION", "invitation", {"invitation", "open"})
MARKETPLACE_FEE_PROFILE = env.text("MARKETPLACE_FEE_PROFILE", "none-1")
MARKETPLACE_CURRENCY = env.text("MARKETPLACE_CURRENCY", "USD")
if MARKETPLACE_CURRENCY not in money.CURRENCIES:
    raise ImproperlyConfigured(
        f"MARKETPLACE_CURRENCY={MARKETPLACE_CURRENCY!r} is no code of a currency (ISO 4217), such as EUR."
    )
# Paying people: ways they may choose, smallest sums of a file, whose account pays by SEPA, sums of a year.
PAYOUT_METHODS = payout_settings.payout_methods(
    env.words("PAYOUT_METHODS", list(payout_settings.PAY_METHODS))
)
PAYOUT_MINIMUMS = payout_settings.payout_minimums(env.words("PAYOUT_MINIMUMS", []))
PAYOUT_SENDER = payout_settings.payout_sender(
    name=env.text("PAYOUT_SENDER_NAME"),
    iban=env.text("PAYOUT_SENDER_IBAN"),
    bic=env.text("PAYOUT_SENDER_BIC"),
)
PAYOUT_WARN_CENTS, PAYOUT_HOLD_CENTS = payout_settings.yearly_thresholds(
    warn=env.text("PAYOUT_YEARLY_WARN"), hold=env.text("PAYOUT_YEARLY_HOLD")
)
# People who may sign up on one day from one network address, and with one invitation; 0: no limit.
MARKETPLACE_SIGN_UPS_PER_ADDRESS = env.integer("MARKETPLACE_SIGN_UPS_PER_ADDRESS", 100)
MARKETPLACE_SIGN_UPS_PER_INVITATION = env.integer("MARKETPLACE_SIGN_UPS_PER_INVITATION", 0)
# Requests per second of one token of the API; 0: no limit.
API_REQUESTS_PER_SECOND = env.integer("API_REQUESTS_PER_SECOND", 100)
# Days between two changes of the country that a worker states; 0: at any time.
MARKETPLACE_COUNTRY_DAYS = env.integer("MARKETPLACE_COUNTRY_DAYS", 30)
# Days for which digests of addresses and browsers, and counts of how work was done, are kept; 0: none are.
TRACES_KEPT_DAYS = env.integer("TRACES_KEPT_DAYS", 180)
#: Storage of task pages (local storage, cookies) that no page changed for so long goes; 0 keeps it for ever.
PAGE_STORAGE_KEPT_DAYS = env.integer("PAGE_STORAGE_KEPT_DAYS", 365)
# Seconds below which reviewers are told that an answer came fast, whatever is usual.
HINTS_LEAST_SECONDS = env.integer("HINTS_LEAST_SECONDS", 3)
# A file of MaxMind's format (.mmdb) that has the countries of network addresses; empty: none.
GEOIP_DATABASE = env.text("GEOIP_DATABASE")
#: Megabytes of a file that a worker gives as an answer, where its question asks for no less.
MARKETPLACE_UPLOAD_MB = env.integer("MARKETPLACE_UPLOAD_MB", 25, least=1)
#: Hosts to which messages of topics may go: names, `*.example.org`, or `*`.
MARKETPLACE_TOPIC_HOSTS = [each.lower() for each in env.words("MARKETPLACE_TOPIC_HOSTS", [])]
MARKETPLACE_QUEUE_LIMIT = env.integer("MARKETPLACE_QUEUE_LIMIT", 25, least=1)
MARKETPLACE_REQUESTS_PER_SECOND = env.integer("MARKETPLACE_REQUESTS_PER_SECOND", 200)
#: With less free space in the data folder this installation is not ready.
DISK_LEAST_FREE_MB = env.integer("DISK_LEAST_FREE_MB", 100)
# Days for which the log of calls is kept; 0: for ever.
LOGS_KEPT_DAYS = env.integer("LOGS_KEPT_DAYS", 90)
# Days for which the audit log of projects and requesters is kept; 0: for ever.
AUDIT_KEPT_DAYS = env.integer("AUDIT_KEPT_DAYS", 0)
if 0 < AUDIT_KEPT_DAYS < 365:
    raise ImproperlyConfigured(
        f"AUDIT_KEPT_DAYS={AUDIT_KEPT_DAYS}: decisions are looked up for a year; use 365 or more, or 0."
    )

# Retrieval: which engine finds passages, and where it is.
RETRIEVAL_ENGINE = env.choice("RETRIEVAL_ENGINE", "tantivy", {"tantivy", "opensearch"})
OPENSEARCH_URL = env.text("OPENSEARCH_URL")
OPENSEARCH_CERTIFICATES = env.text("OPENSEARCH_CERTIFICATES")
OPENSEARCH_PREFIX = env.name("OPENSEARCH_PREFIX", "distillery")
OPENSEARCH_SHARDS = env.integer("OPENSEARCH_SHARDS", 1, least=1)
if RETRIEVAL_ENGINE == "opensearch" and not OPENSEARCH_URL:
    raise ImproperlyConfigured("RETRIEVAL_ENGINE=opensearch needs OPENSEARCH_URL.")

# Evaluations: how many workers may help the one that computes an evaluation.
EVALUATIONS_HELPERS = env.integer("EVALUATIONS_HELPERS", 8, least=0)

# Retrieval: the folder of a cross-encoder (model.onnx, tokenizer.json); without one there is none.
CROSS_ENCODER = env.text("CROSS_ENCODER")

# Learned metrics: a folder whose sub-folders are models, and the encoder of BERTScore (folder or name).
METRIC_MODELS = Path(env.text("METRIC_MODELS", str(DATA_DIR / "models")))
BERTSCORE_ENCODER = env.text("BERTSCORE_ENCODER")

# What `doctor` calls this host; empty: what the machine is called.
HOST_NAME = env.text("HOST_NAME")

# Files that every host needs: s3://bucket/prefix or a folder that all hosts see; empty: there is one host.
DATA_STORAGE = env.text("DATA_STORAGE").rstrip("/")
DATA_S3_ENDPOINT = env.text("DATA_S3_ENDPOINT")
DATA_S3_REGION = env.text("DATA_S3_REGION")
DATA_S3_ACCESS_KEY = env.text("DATA_S3_ACCESS_KEY")
DATA_S3_SECRET_KEY = env.text("DATA_S3_SECRET_KEY")

# Releases: where their files are kept, a folder or s3://bucket/prefix.
RELEASES_STORAGE = env.text("RELEASES_STORAGE", f"{DATA_STORAGE or DATA_DIR}/releases")
RELEASES_S3_ENDPOINT = env.text("RELEASES_S3_ENDPOINT", DATA_S3_ENDPOINT)
RELEASES_S3_REGION = env.text("RELEASES_S3_REGION", DATA_S3_REGION)
RELEASES_S3_ACCESS_KEY = env.text("RELEASES_S3_ACCESS_KEY", DATA_S3_ACCESS_KEY)
RELEASES_S3_SECRET_KEY = env.text("RELEASES_S3_SECRET_KEY", DATA_S3_SECRET_KEY)
