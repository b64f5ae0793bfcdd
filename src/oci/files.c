/*
 * Files; see files.h.
 */
#include "oci/files.h"

#include "base/auto.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool join(struct capsid__buf *out, const char *a, const char *b)
{
	return capsid__buf_append_text(out, a) &&
	       (b[0] == '/' || capsid__buf_append_byte(out, '/')) &&
	       capsid__buf_append_text(out, b) &&
	       capsid__buf_append_byte(out, '\0');
}

static int no_memory(capsid_error *err)
{
	return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
}

int capsid__oci_read(struct capsid__buf *out, const char *directory,
	const char *file, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf path = { 0 };
	struct stat st;
	ssize_t n = 0;
	int fd;

	if (!join(&path, directory, file))
		return no_memory(err);
	/* an image's may be anything, which must not wait nor start */
	fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return capsid__error_system(err, "cannot read %s", file);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return capsid__error_set(
			err, CAPSID_ESYS, "%s is not a regular file", file);
	}
	do {
		if (out->len > CAPSID__OCI_FILE_MAX ||
			!capsid__buf_reserve(out, 65536)) {
			close(fd);
			return capsid__error_set(
				err, CAPSID_ESYS, "%s is too large", file);
		}
		n = read(fd, out->data + out->len, 65536);
		if (n > 0)
			out->len += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		(void)capsid__error_system(err, "cannot read %s", file);
	close(fd);
	return n < 0 ? CAPSID_ESYS : 0;
}

int capsid__oci_write(const char *directory, const char *file,
	const struct capsid__buf *text, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf path = { 0 };
	size_t done = 0;
	ssize_t n = 0;
	int fd;

	if (!join(&path, directory, file))
		return no_memory(err);
	fd = open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	while (fd >= 0 && done < text->len && n >= 0) {
		n = write(fd, text->data + done, text->len - done);
		if (n > 0)
			done += (size_t)n;
	}
	if (fd < 0 || n < 0)
		(void)capsid__error_system(
			err, "cannot write %s in %.200s", file, directory);
	if (fd >= 0 && close(fd) != 0 && n >= 0) {
		n = -1;
		(void)capsid__error_system(
			err, "cannot write %s in %.200s", file, directory);
	}
	return fd < 0 || n < 0 ? CAPSID_ESYS : 0;
}

int capsid__oci_private(const char *path, capsid_error *err)
{
	struct stat st;

	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return capsid__error_system(err, "cannot make %.200s", path);
	if (lstat(path, &st) != 0)
		return capsid__error_system(err, "cannot see %.200s", path);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
		(st.st_mode & 077) != 0)
		return capsid__error_set(err, CAPSID_ESYS,
			"%.200s must be a directory of this user alone (mode "
			"0700): remove it",
			path);
	return 0;
}

/* The base itself is the user's or the system's; it need not be private. */
int capsid__oci_private_under(
	char **out, const char *variable, const char *base, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf path = { 0 };
	const char *set = getenv(variable);
	int code;

	if (set != NULL && set[0] == '/')
		base = set;
	if (mkdir(base, 0700) != 0 && errno != EEXIST)
		return capsid__error_system(err, "cannot make %.200s", base);
	if (!join(&path, base, "capsid"))
		return no_memory(err);
	code = capsid__oci_private(path.data, err);
	if (code == 0)
		*out = capsid__buf_take(&path, NULL);
	return code;
}

int capsid__oci_place(
	const char *root, const char *path, bool directory, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf whole = { 0 };
	char *at;
	int fd;

	if (!join(&whole, root, path))
		return no_memory(err);
	at = whole.data + strlen(root);
	for (char *slash = strchr(at, '/'); slash != NULL;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(whole.data, 0755) != 0 && errno != EEXIST)
			return capsid__error_system(
				err, "cannot make %.200s", whole.data);
		*slash = '/';
	}
	if (directory) {
		if (mkdir(whole.data, 0755) != 0 && errno != EEXIST)
			return capsid__error_system(
				err, "cannot make %.200s", whole.data);
		return 0;
	}
	fd = open(whole.data, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
	if (fd < 0)
		return capsid__error_system(
			err, "cannot make %.200s", whole.data);
	close(fd);
	return 0;
}

/* It is an image's: what could lead out of it is refused. */
static int open_to_all(const char *root, const char *path, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf whole = { 0 };
	int fd, code = 0;

	if (!join(&whole, root, path))
		return no_memory(err);
	fd = open(whole.data, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, 01777) != 0)
		code = capsid__error_system(
			err, "%s must be a directory, not a link", path);
	if (fd >= 0)
		close(fd);
	return code;
}

int capsid__oci_places(const char *root, capsid_error *err)
{
	int code = capsid__oci_place(root, "/proc", true, err);

	if (code == 0)
		code = capsid__oci_place(root, "/dev", true, err);
	if (code == 0)
		code = capsid__oci_place(root, "/tmp", true, err);
	return code == 0 ? open_to_all(root, "/tmp", err) : code;
}
