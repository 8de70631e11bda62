"""Events of a run on their way out: one stream, a renderer for each kind of client."""
