"""Kinds of file come from the registry; failures are stored as codes and places, not as words."""

from django.db import migrations, models

from apps.documents.errors import failure_text
from apps.documents.kinds import registry


def keep_sentences(apps, _schema_editor):
    documents = apps.get_model("documents", "Document").objects.exclude(error_message=None)
    for document in documents.only("pk", "error_message").iterator():
        places = {"sentence": document.error_message}
        documents.filter(pk=document.pk).update(error_places=places)


def write_sentences(apps, _schema_editor):
    documents = apps.get_model("documents", "Document").objects.filter(status="failed")
    for document in documents.iterator():
        text = failure_text(document.error_code, document.error_places)
        documents.filter(pk=document.pk).update(error_message=text)


class Migration(migrations.Migration):
    dependencies = [("documents", "0004_text_version")]

    operations = [
        migrations.RemoveConstraint(model_name="document", name="chk_document_file_type"),
        migrations.AlterField(
            model_name="document",
            name="file_type",
            field=models.CharField(choices=registry.choices, max_length=16),
        ),
        migrations.AddField(
            model_name="document",
            name="findings",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name="document",
            name="error_places",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.RunPython(keep_sentences, write_sentences),
        migrations.RemoveField(model_name="document", name="error_message"),
    ]
