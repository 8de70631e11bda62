"""Stage 1: where a message goes, and what it asks when read alone."""
