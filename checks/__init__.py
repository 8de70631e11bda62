"""What is checked besides the ready-made tools: by `make check` and `make test`, or on demand."""
