"""Numbers, explained: one value term by term, why two differ, and what may have made a published one."""
