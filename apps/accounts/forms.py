"""The sign-in form, dressed for our pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.forms import AuthenticationForm
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.http import HttpRequest


class LoginForm(AuthenticationForm):
    """Name and password."""

    def __init__(self, request: HttpRequest | None = None, **values: Any) -> None:
        super().__init__(request, **{"label_suffix": "", **values})
        self.fields["username"].label = _("用户名")
        self.fields["password"].label = _("密码")
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"
