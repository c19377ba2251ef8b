"""What a run was like: figures, tables and pictures of a schedule."""
