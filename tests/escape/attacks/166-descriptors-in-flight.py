# Descriptors that are sent and never received are nobody's, and count nowhere
# among its own.
# control: root
# inside: refused ETOOMANYREFS [2-5]\d\d$
import socket
one, other = socket.socketpair()
fds, sent, end = [os.open("/dev/null", 0)] * 100, 0, ""
one.setblocking(False)
for i in range(50):
    try:
        socket.send_fds(one, [b"x"], fds)
        sent += 100
    except OSError as error:
        end = name_of(error.errno)
        break
return (refused if end else happened)(f"{end} {sent}")
