"""The commands, one module each; `main` imports a module when its command is called."""
