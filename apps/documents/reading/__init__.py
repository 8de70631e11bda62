"""Text out of an uploaded file, within limits of time, memory, pages and characters.

`extract` is the door and the worker's side. All the rest runs in the extraction child, imports no
Django and reads no configuration, so that the child starts in a blink and knows no secret; it
opens no network connection and writes no file.
"""
