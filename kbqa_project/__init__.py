"""Settings, routes and entry points of the server."""

__version__ = "0.1.0"
