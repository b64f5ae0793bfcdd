# Raises its limits to more than it was given.
# control: root
# inside: refused (ValueError.*|EPERM.*){5}$
import resource
def raise_(which):
    soft, hard = resource.getrlimit(which)
    more = hard if hard == -1 else hard + 1
    resource.setrlimit(which, (more, more))
    return which
return first(*(tried(raise_, x) for x in (
    resource.RLIMIT_NOFILE, resource.RLIMIT_DATA, resource.RLIMIT_MEMLOCK,
    resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)))
