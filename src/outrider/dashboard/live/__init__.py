"""Browser sessions as people watch and steer them: pictures and states go out over a socket, commands come in."""
