capsid_unit(test_port TORTURE LIBS capsid-port capsid-json capsid-base)
capsid_unit(test_port_lines LIBS capsid-port capsid-json capsid-base)
