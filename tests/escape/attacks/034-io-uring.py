# Makes a ring by which every other filtered call could be made.
# control: root, may refuse: kernel.io_uring_disabled may be set
# inside: worker-exit: killed for the system call "io_uring_setup"$
return told(syscall(425, 4, ctypes.create_string_buffer(120)))
