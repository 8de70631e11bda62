"""Stage 3: from evidence to a cited answer or a refusal."""
