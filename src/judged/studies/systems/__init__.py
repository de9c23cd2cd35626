"""Systems: how a study declares them, what they are made of, and how they are built."""
