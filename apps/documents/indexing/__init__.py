"""From a queued job to chunks and vectors, and away again."""
