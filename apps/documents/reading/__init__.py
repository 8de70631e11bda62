"""Reading a file's text: what runs in the extraction child.

Nothing in here imports Django or reads the configuration, so that the child starts in a blink and
knows no secret. It never opens a network connection and never writes a file.
"""
