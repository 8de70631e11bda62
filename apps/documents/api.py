"""The documents part of the JSON API (003 §12.1)."""

from ninja import Router

router = Router(tags=["documents"])
