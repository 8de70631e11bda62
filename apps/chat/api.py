"""The sessions and questions part of the JSON API (003 §12.2)."""

from ninja import Router

router = Router(tags=["chat"])
