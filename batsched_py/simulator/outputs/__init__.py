"""Files that a simulation leaves, with the columns and numbers of Batsim."""
