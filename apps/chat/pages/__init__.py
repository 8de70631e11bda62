"""What people see of conversations."""
