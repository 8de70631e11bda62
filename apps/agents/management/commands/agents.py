"""manage.py agents show: the workflow in force, for people and, with --json, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.agents.effective_workflow import workflow_json, workflow_text
from apps.agents.prompts import LANGUAGES
from apps.core.errors import AppError
from apps.core.processes.configuration import refuse_wrong_configuration

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Show what the agents do, with which models, tools, limits and prompts."""

    help = "Show the effective workflow of the agents."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the subcommand and its options."""
        subcommands = parser.add_subparsers(dest="subcommand", required=True)
        show = subcommands.add_parser("show", help="print the effective workflow")
        default = "en" if settings.ENV.language == "en" else "zh"
        show.add_argument("--language", choices=LANGUAGES, default=default)
        show.add_argument("--prompts", action="store_true", help="print the whole prompts")
        show.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print the workflow.

        Raises:
            CommandError: a configuration file is wrong, or the embedded models cannot run.
        """
        refuse_wrong_configuration()
        try:
            if options["json"]:
                text = workflow_json(options["language"])
            else:
                text = workflow_text(options["language"], with_prompts=options["prompts"])
        except AppError as error:
            raise CommandError(error.text) from error
        self.stdout.write(text)
