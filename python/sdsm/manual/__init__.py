"""Manual pages and shell completions, made from what the commands' --help prints: one source for all."""
