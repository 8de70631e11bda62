"""The store of chunk vectors: who owns it, and how the other processes reach it."""
