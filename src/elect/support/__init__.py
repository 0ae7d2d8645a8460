"""What every room needs and none owns: arrays, atomic writes, compiled kernels, threads, trees, progress."""
