"""The commands of the command line: parse options, call a task, print."""
