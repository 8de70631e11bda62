from django.db import migrations, models


def mark_known_costs(apps, schema_editor):
    """Jobs that were charged before had prices by token, or none."""
    jobs = apps.get_model("documents", "IndexJob").objects
    jobs.filter(cost_micro__gt=0).update(cost_source="custom_pricing")
    jobs.filter(cost_micro=None).update(cost_source="unpriced")


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0002_job_cost"),
    ]

    operations = [
        migrations.AddField(
            model_name="indexjob",
            name="cost_source",
            field=models.CharField(default="embedded", max_length=20),
        ),
        migrations.RunPython(mark_known_costs, migrations.RunPython.noop),
    ]
