from django.apps import AppConfig

from apps.agents import checks


class AgentsConfig(AppConfig):
    name = "apps.agents"
    label = "agents"

    def ready(self) -> None:
        checks.register()
