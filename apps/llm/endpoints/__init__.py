"""Models behind an OpenAI-compatible endpoint: requests, replies, errors, vendors."""
