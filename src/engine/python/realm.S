/*
 * realm.py as it stands, with a NUL behind it, in read-only data.
 */
	.section .rodata, "a", @progbits
	.hidden capsid__python_realm_text
	.globl capsid__python_realm_text
	.balign 16
capsid__python_realm_text:
	.incbin CAPSID_REALM_FILE
	.byte 0
	.section .note.GNU-stack, "", @progbits
