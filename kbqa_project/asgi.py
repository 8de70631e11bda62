"""ASGI entry point: everything is HTTP; Channels supplies the channel layer only."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kbqa_project.settings")

application = get_asgi_application()
