"""What ends a command with a message instead of a traceback."""


class CommandError(Exception):
    """Something the user can mend: the message is all they see, and the command ends with exit code 1."""
