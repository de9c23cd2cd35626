"""A real test collection out of the documentation that every Python carries, retrieved from and scored."""
