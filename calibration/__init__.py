"""Published measurements as data, and the fits that turn them into a platform's parameters."""
