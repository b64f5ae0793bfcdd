capsid_unit(test_port TORTURE LIBS capsid-port capsid-json capsid-base)
