"""Files and other libraries' objects ⇄ tables, one module for each format."""
