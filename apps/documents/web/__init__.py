"""Pages and JSON of the documents app."""
