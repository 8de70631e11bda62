"""The chat tables' triggers exist, guard, and go away when the migrations are reversed."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

TRIGGERS = ["trg_message_currency_insert", "trg_message_currency_update"]


def names_of(kind):
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = %s ORDER BY name", [kind])
        return [name for (name,) in cursor.fetchall()]


@pytest.mark.django_db
def test_all_migrations_leave_the_currency_triggers_in_place():
    assert [name for name in names_of("trigger") if name.startswith("trg_message")] == TRIGGERS


@pytest.mark.django_db
def test_message_in_another_currency_than_its_session_is_refused(session):
    with pytest.raises(IntegrityError, match="currency"), transaction.atomic():
        session.messages.create(seq=1, role="user", currency="USD")


@pytest.mark.django_db
def test_message_cannot_change_to_another_currency(session):
    message = session.messages.create(seq=1, role="user")
    with pytest.raises(IntegrityError, match="currency"), transaction.atomic():
        session.messages.filter(id=message.id).update(currency="USD")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "values",
    [
        {"seq": 0},
        {"role": "robot"},
        {"status": "lost"},
        {"cost": -1},
        {"input_tokens": -1},
        {"latency_ms": -1},
    ],
)
def test_impossible_message_values_are_refused(session, values):
    with pytest.raises(IntegrityError), transaction.atomic():
        session.messages.create(**{"seq": 1, "role": "user", **values})


@pytest.mark.django_db(transaction=True)
def test_chat_migrations_are_reversible_with_their_triggers():
    latest = MigrationExecutor(connection).loader.graph.leaf_nodes("chat")
    try:
        MigrationExecutor(connection).migrate([("chat", None)])
        assert [name for name in names_of("table") if name.startswith("agent_chat")] == []
        assert "model_calls" not in names_of("table")
        assert [name for name in names_of("trigger") if name.startswith("trg_message")] == []
    finally:
        MigrationExecutor(connection).migrate(latest)
    assert [name for name in names_of("trigger") if name.startswith("trg_message")] == TRIGGERS
    assert {"idx_messages_seq_display", "idx_messages_seq_audit"} <= set(names_of("index"))
    assert "model_calls" in names_of("table")
