"""What calls of a conversation cost: recorded, summed, reported."""
