"""The commands that label results and compare labels with human grades."""
