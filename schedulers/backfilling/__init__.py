"""The loop of all algorithms that backfill, its options, and expected returns of failed hosts."""
