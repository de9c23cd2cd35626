"""What each family of measures computes on its way."""
