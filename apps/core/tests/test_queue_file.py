"""A damaged queue is set aside, a good one is left alone."""

import sqlite3

from apps.core.processes.queue_file import set_damaged_queue_aside


def test_damaged_queue_is_set_aside(tmp_path):
    queue = tmp_path / "queue.sqlite3"
    queue.write_bytes(b"no database at all" * 100)
    (tmp_path / "queue.sqlite3-wal").write_bytes(b"x")

    set_damaged_queue_aside(queue)

    assert [path.name for path in tmp_path.iterdir()] == ["queue.sqlite3.damaged"]


def test_readable_and_missing_queues_are_left_alone(tmp_path):
    queue = tmp_path / "queue.sqlite3"
    database = sqlite3.connect(queue)
    database.execute("CREATE TABLE task (id)")
    database.close()

    set_damaged_queue_aside(queue)
    set_damaged_queue_aside(tmp_path / "missing.sqlite3")

    assert [path.name for path in tmp_path.iterdir()] == ["queue.sqlite3"]
