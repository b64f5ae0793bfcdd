# Begins processes until it may not.
# inside: refused EPERM 0$
import signal
children, end = [], "none"
while len(children) < 100:
    try:
        child = os.fork()
    except OSError as error:
        end = name_of(error.errno)
        break
    if child == 0:
        signal.pause()
    children.append(child)
for child in children:
    os.kill(child, 9)
    os.waitpid(child, 0)
return (refused if len(children) < 100 else happened)(f"{end} {len(children)}")
