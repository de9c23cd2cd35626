"""The interfaces of other tools, on this engine: a module for each, imported by those who use that tool."""
