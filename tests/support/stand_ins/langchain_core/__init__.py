"""As much of langchain-core as the documentation uses, where the library itself is not installed (`make test-rag` has it)."""
