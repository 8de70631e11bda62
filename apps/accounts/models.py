"""People. In local mode there is one, made at the first start; in login mode Django's accounts."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person; every row that belongs to somebody points here."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
