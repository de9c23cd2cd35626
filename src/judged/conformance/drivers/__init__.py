"""One driver for each tool, all of one shape: `version(program)` and `answer(case, measure, program)`."""
