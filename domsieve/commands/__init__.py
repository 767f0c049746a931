"""The commands of the command line: parse options, run a task, print results."""
