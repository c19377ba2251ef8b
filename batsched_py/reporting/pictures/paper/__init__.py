"""Pictures for papers, by matplotlib (the extra `plot`): nothing else imports these modules unless one is wanted."""
