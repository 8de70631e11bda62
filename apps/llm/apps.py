from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from apps.llm import checks


class LlmConfig(AppConfig):
    name = "apps.llm"
    label = "llm"
    verbose_name = _("模型目录")

    def ready(self) -> None:
        checks.register()
