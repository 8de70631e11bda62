"""Measures speed and memory of a real server on temporary folders; no part of the product.

`python -m benchmarks` runs all and prints one line per figure, `python -m benchmarks.<name>` one.
Chat and embedding endpoints are played by the wire-level stand-in of the tests.
"""
