"""Files of users: YAML and tables, refused where they are not what they should be."""
