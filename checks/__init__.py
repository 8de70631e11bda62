"""What `make check` and `make test` do besides the ready-made tools."""
