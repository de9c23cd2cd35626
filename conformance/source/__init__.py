"""The cases as people write them, one module for each file of the suite."""
