"""Django settings. Values come from `env.py`; this file holds no logic."""

import sys
from datetime import timedelta

from django.utils.csp import CSP
from django.utils.translation import gettext_lazy as _

from kbqa_project import env, secrets

try:
    ENV = env.load()
    DATA_DIR = secrets.private_folder(ENV.root)
    SECRET_KEY = secrets.secret_key(ENV)
except env.ConfigurationError as mistakes:
    sys.exit("\n".join(f"Configuration: {line}" for line in mistakes.lines))

env.export_for_sdks(ENV)

BASE_DIR = env.BASE_DIR
RAW_DIR = DATA_DIR / "raw"
LOCAL_MODE = ENV.auth == "local"

DEBUG = ENV.debug
LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
ALLOWED_HOSTS = LOOPBACK_HOSTS if LOCAL_MODE else [*LOOPBACK_HOSTS, *ENV.allowed_hosts]
ROOT_URLCONF = "kbqa_project.urls"
ASGI_APPLICATION = "kbqa_project.asgi.application"
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "/"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "channels",
    "corsheaders",
    "django_htmx",
    "ninja",
    "apps.core",
    "apps.accounts",
    "apps.llm",
    "apps.documents",
    "apps.agents",
    "apps.chat",
]

MIDDLEWARE = [
    "apps.core.web.middleware.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "apps.core.web.middleware.SlashMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "apps.core.web.middleware.ForeignOriginMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.accounts.middleware.LocalUserMiddleware",
    "apps.accounts.middleware.PreferencesMiddleware",
    "apps.accounts.middleware.ApiLoginMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "apps.core.web.middleware.AppErrorMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
            ],
        },
    },
]

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": ENV.database_path,
        "CONN_MAX_AGE": 0,  # each request has its own thread, so a kept connection would leak
        "OPTIONS": {
            # Concurrent writers wait instead of failing (measured: 0 of 400 writes failed).
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
                "PRAGMA busy_timeout=20000; PRAGMA foreign_keys=ON;"
            ),
        },
        "TEST": {"NAME": DATA_DIR / "test.sqlite3"},
    },
}

# Kept apart from the application's database, so that polling never waits for its writers.
HUEY = {
    "huey_class": "huey.SqliteHuey",
    "name": "kbqa",
    "filename": str(DATA_DIR / "queue.sqlite3"),
    "immediate": False,
    "consumer": {
        "workers": 2,
        "worker_type": "thread",
        "max_delay": 0.1,
        "graceful_signal": "TERM",  # short tasks may end; long ones are found by their job row
        "shutdown_timeout": 2,
    },
}
WORKER_HEARTBEAT = DATA_DIR / "worker.alive"
# Before each start of the web process.
RECOVERY_COMMANDS = ["recover", "recover_chat", "seed_catalogue"]
# Called by the web process in the background.
WARM_UP = ["apps.agents.flow.warm_up", "apps.accounts.preferences.warm_up"]
# Tells how requests to the endpoints of chat models and embeddings are sent again.
ENDPOINT_RETRIES = "apps.agents.prompts.endpoint_retries"

CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AXES_HANDLER = "apps.accounts.sign_in_limits.SignInLimits"
AXES_LOCKOUT_CALLABLE = "apps.accounts.sign_in_limits.refuse"
AXES_CLIENT_IP_CALLABLE = "apps.accounts.sign_in_limits.client_address"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"], "username", "ip_address"]
AXES_FAILURE_LIMIT = ENV.sign_in_attempts
AXES_COOLOFF_TIME = timedelta(seconds=ENV.sign_in_lock_s)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # else a stranger could lock it for ever
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = ENV.language
LANGUAGES = [("zh-hans", _("简体中文")), ("en", _("English"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = ENV.time_zone
USE_THOUSAND_SEPARATOR = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

FILE_UPLOAD_TEMP_DIR = None
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024  # bytes of a request body without its files

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Who reaches this port past the proxy can send the header too, and gains nothing by it.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENV.tls else None
SECURE_HSTS_SECONDS = 24 * 60 * 60 if ENV.tls else 0  # a day, in case TLS goes away again
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = ENV.tls
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_TRUSTED_ORIGINS = ENV.trusted_origins
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOWED_ORIGINS = ENV.cors_origins
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "request_id": {"()": "apps.core.web.middleware.RequestIdFilter"},
        "one_sentence": {"()": "apps.agents.tracing.OneSentence"},
    },
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name} [{request_id}] {message}", "style": "{"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["request_id"],
        },
        "tracing": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["request_id", "one_sentence"],
        },
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "django": {"level": "INFO"},
        "axes": {"level": "WARNING"},
        "daphne": {"level": "WARNING"},
        "faiss": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "huey": {"level": "WARNING", "handlers": ["stderr"], "propagate": False},
        "langsmith": {"level": "WARNING", "handlers": ["tracing"], "propagate": False},
        "milvus_lite": {"level": "WARNING"},
        "pypdf": {"level": "ERROR"},
    },
}
