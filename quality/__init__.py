"""Measures answers on question sets, through the product but without a server."""
