# Has the C library look up a name, and asyncio connect to it.
# inside: refused .*gaierror.*
import asyncio, socket
try:
    found = socket.getaddrinfo("localhost", world["tcp"])
    reader, writer = await asyncio.open_connection("localhost", world["tcp"])
    return happened(found)
except OSError as error:
    return refused(repr(error))
