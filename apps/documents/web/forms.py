"""What the documents page lets a person choose: a status, a name, an order."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.documents.models import DocumentQuerySet, DocumentStatus

SORT_ORDERS = {
    "newest": ["-created_at", "-id"],
    "oldest": ["created_at", "id"],
    "name": ["filename", "id"],
    "size": ["-file_size", "-id"],
}
SORT_CHOICES = [
    ("newest", _("最新上传")),
    ("oldest", _("最早上传")),
    ("name", _("名称")),
    ("size", _("大小")),
]
SHOWN_STATUSES = [choice for choice in DocumentStatus.choices if choice[0] != "deleting"]


class DocumentFilterForm(forms.Form):
    """The list's filter, from the query string; a value that is not offered counts as unset."""

    status = forms.ChoiceField(choices=[("", _("全部")), *SHOWN_STATUSES], required=False)
    q = forms.CharField(max_length=255, required=False)
    sort = forms.ChoiceField(choices=SORT_CHOICES, required=False)

    def chosen(self, name: str) -> str:
        """Return the valid value of a field, or the empty string."""
        self.is_valid()
        return str(self.cleaned_data.get(name, ""))

    def matching_name(self, documents: DocumentQuerySet) -> DocumentQuerySet:
        """Return the documents whose name contains the searched text."""
        text = self.chosen("q")
        return documents.filter(filename__icontains=text) if text else documents

    def apply(self, documents: DocumentQuerySet) -> DocumentQuerySet:
        """Return the documents that match, in the chosen order."""
        status = self.chosen("status")
        matching = self.matching_name(documents)
        if status:
            matching = matching.filter(status=status)
        return matching.order_by(*SORT_ORDERS[self.chosen("sort") or "newest"])
