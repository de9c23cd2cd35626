"""The stages of a retrieval system: encoders, searchers, retrievers, rerankers, routers, skip policies."""
