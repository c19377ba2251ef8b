"""Tables of the members that readers of inputs know, and warnings: every member is obeyed, refused or reported."""
