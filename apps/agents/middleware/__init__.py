"""What stands around each call of an agent to its model."""
