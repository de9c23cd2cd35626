"""The commands that run studies, fuse runs, score routers, and show a demonstration."""
