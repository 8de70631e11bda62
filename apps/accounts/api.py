"""The profile part of the JSON API: one's own, never another person's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self, cast

from ninja import Router, Schema
from pydantic import BaseModel, BeforeValidator, ConfigDict

from apps.accounts.profiles import Person, change_profile, read_person
from apps.core.text.cleaning import clean_text

if TYPE_CHECKING:
    from django.http import HttpRequest

    from apps.accounts.models import User

router = Router(tags=["profile"])


def _clean(value: object) -> object:
    return clean_text(value) if isinstance(value, str) else value


Text = Annotated[str | None, BeforeValidator(_clean)]


class ProfilePatch(BaseModel):
    """What to change; what is left out or null stays."""

    model_config = ConfigDict(extra="forbid")

    username: Text = None
    bio: Text = None
    interface_language: Text = None
    ai_language: Text = None
    timezone: Text = None
    country: Text = None


class ProfileOut(Schema):
    """A profile; without a stored one the installation's defaults."""

    username: str
    bio: str | None
    interface_language: str
    ai_language: str
    timezone: str
    country: str

    @classmethod
    def of(cls, person: Person) -> Self:
        """Return the form of a profile."""
        return cls(username=person.username, bio=person.bio, **person.preferences.model_dump())


@router.get("/profile", response=ProfileOut)
def get_profile(request: HttpRequest) -> ProfileOut:
    """Return one's own profile."""
    return ProfileOut.of(read_person(cast("User", request.user)))


@router.patch("/profile", response=ProfileOut)
def patch_profile(request: HttpRequest, body: ProfilePatch) -> ProfileOut:
    """Change one's own profile; conversations that exist keep their billing country."""
    return ProfileOut.of(change_profile(cast("User", request.user), **body.model_dump()))
