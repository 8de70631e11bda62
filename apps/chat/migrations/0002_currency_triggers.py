"""A message's currency must equal its session's (002, "同 Session 币种一致")."""

from django.db import migrations

_CHECK = """
    SELECT RAISE(ABORT, 'message currency does not match session currency')
    WHERE NEW.currency IS NOT (
        SELECT billing_currency FROM agent_chat_sessions WHERE id = NEW.session_id
    );
"""

CREATE = [
    f"CREATE TRIGGER trg_message_currency_insert BEFORE INSERT ON agent_chat_messages "
    f"BEGIN {_CHECK} END",
    f"CREATE TRIGGER trg_message_currency_update BEFORE UPDATE OF currency, session_id "
    f"ON agent_chat_messages BEGIN {_CHECK} END",
]
DROP = [
    "DROP TRIGGER IF EXISTS trg_message_currency_insert",
    "DROP TRIGGER IF EXISTS trg_message_currency_update",
]


class Migration(migrations.Migration):
    dependencies = [("chat", "0001_initial")]

    operations = [
        migrations.RunSQL(sql=create, reverse_sql=drop)
        for create, drop in zip(CREATE, DROP, strict=True)
    ]
