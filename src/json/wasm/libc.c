/*
 * snprintf comes with the C library's streams, which the scanner never opens;
 * what they would ask of a system is answered here, so that the module imports
 * nothing.
 */
#include <wasi/api.h>

__wasi_errno_t __wasi_fd_close(__wasi_fd_t fd)
{
	(void)fd;
	return __WASI_ERRNO_BADF;
}

__wasi_errno_t __wasi_fd_seek(__wasi_fd_t fd, __wasi_filedelta_t offset,
	__wasi_whence_t whence, __wasi_filesize_t *where)
{
	(void)fd, (void)offset, (void)whence, (void)where;
	return __WASI_ERRNO_BADF;
}

__wasi_errno_t __wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t *parts,
	size_t count, __wasi_size_t *written)
{
	(void)fd, (void)parts, (void)count, (void)written;
	return __WASI_ERRNO_BADF;
}
