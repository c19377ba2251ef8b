"""Arithmetic on time and hosts: what will be free when. Knows no job, no event, no protocol."""
