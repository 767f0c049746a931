"""What every experiment shares: tasks that resume, JSON lines, tables, figures, the document of results."""
