"""Systems that retrieve: fusion of runs, and the weights that it takes."""
