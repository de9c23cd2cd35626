"""One HTTP and LLM client: pooled connections, deadlines, bounded answers, retries, hidden secrets, a budget."""
