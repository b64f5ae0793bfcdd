capsid_fuzz(strip LIBS capsid-strip-native capsid-strip-grammar capsid-base)
