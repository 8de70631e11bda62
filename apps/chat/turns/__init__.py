"""Questions and their answers as rows: begun, collected, ended exactly once."""
