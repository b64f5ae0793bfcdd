/*
 * The snapshot image, as capsid-mkimage left it, in read-only data.
 */
	.section .rodata, "a", @progbits
	.hidden capsid__quickjs_image
	.hidden capsid__quickjs_image_end
	.globl capsid__quickjs_image
	.globl capsid__quickjs_image_end
	.balign 16
capsid__quickjs_image:
	.incbin CAPSID_IMAGE_FILE
capsid__quickjs_image_end:
	.byte 0
	.section .note.GNU-stack, "", @progbits
