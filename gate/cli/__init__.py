"""Arguments in, exit code out. The only place with argv, environ and streams; one thin module a command."""
