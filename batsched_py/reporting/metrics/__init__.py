"""What a schedule was like: its figures, over time too, and tables of them."""
