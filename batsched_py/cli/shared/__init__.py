"""What several commands share: options, inputs, outputs, the terminal."""
