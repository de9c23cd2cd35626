/* A benchmark of vector indexes: the answer, the settings, and the figures, as any result has them. */

definePage("index", "", drawResult);
