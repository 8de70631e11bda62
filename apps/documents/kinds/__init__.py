"""What kinds of file can be uploaded: one file for each. No Django: the extraction child reads it.

A module here that holds a `KIND` is found by itself; see `registry.FileKind` for what it says.
"""
