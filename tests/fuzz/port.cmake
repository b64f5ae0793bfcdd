capsid_fuzz(port_host LIBS capsid-port capsid-json capsid-base)
