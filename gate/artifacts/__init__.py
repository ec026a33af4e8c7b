"""Result files in, one :class:`ItemTable` out. One module a format."""
