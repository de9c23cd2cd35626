/* A study: the answer, scores and differences, times by stage, and the figures, as any result has them. */

definePage("study", "", drawResult);
