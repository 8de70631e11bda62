"""What every request passes and every page shares."""
