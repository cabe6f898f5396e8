"""The gate: rules, policy and acceptances over what a comparison found."""
