"""The work on one turn while it lasts: its task, its events, its cancellation."""
