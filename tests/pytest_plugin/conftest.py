"""The project in here is run by the tests, not collected with them."""

collect_ignore = ["project"]
