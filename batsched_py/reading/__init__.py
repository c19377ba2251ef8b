"""What an input says is obeyed, refused, or told in one line: the members that readers know, and the lines."""
