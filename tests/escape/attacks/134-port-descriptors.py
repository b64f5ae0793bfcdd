# Sends descriptors up the port, to be held or leaked by the host.
# outside: value .*reader was given descriptors
# inside: refused sent \d+$
import socket
port = socket.socket(fileno=os.dup(3))
sent = 0
fds = [os.open("/dev/null", 0) for i in range(100)]
for i in range(50):
    try:
        sent += socket.send_fds(port, [b"\n"], fds) * 100
    except OSError:
        break
port.detach()
return (refused if world["inside"] else happened)(f"sent {sent}")
