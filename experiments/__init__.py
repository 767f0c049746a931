"""The experiments of the papers and public benchmarks."""
