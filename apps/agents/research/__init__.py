"""Stage 2: from a question to evidence."""
