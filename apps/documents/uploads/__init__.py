"""From a request to a stored original, its row and its queued job."""
