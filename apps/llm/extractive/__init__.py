"""The embedded chat model, which quotes sentences of the evidence instead of writing."""
