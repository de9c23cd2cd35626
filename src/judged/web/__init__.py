"""The local viewer: the pages of the report, served from this machine and made anew when their files change."""
