/*
 * See worker_tls.h. A place without certificates is no error here: then no
 * server is believed, and the handshake fails.
 */
#include "guest/worker_tls.h"

#include <dirent.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *place(const char *variable)
{
	const char *value = getenv(variable);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

/* "8f4b1cd2.0": a certificate, named by its subject's hash. */
static bool is_certificate(const char *name)
{
	return strspn(name, "0123456789abcdef") == 8 && name[8] == '.' &&
	       name[9] != '\0' &&
	       strspn(name + 9, "0123456789") == strlen(name + 9);
}

static void load_folder(X509_STORE *store, const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	char file[4096];

	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL) {
		int n = snprintf(
			file, sizeof(file), "%s/%s", path, entry->d_name);

		if (is_certificate(entry->d_name) && n > 0 &&
			(size_t)n < sizeof(file))
			(void)X509_STORE_load_locations(store, file, NULL);
	}
	closedir(folder);
}

/* Folders, with a colon between them. */
static void load_folders(X509_STORE *store, const char *paths)
{
	char path[4096];

	while (*paths != '\0') {
		size_t len = strcspn(paths, ":");

		if (len > 0 && len < sizeof(path)) {
			memcpy(path, paths, len);
			path[len] = '\0';
			load_folder(store, path);
		}
		paths += len + (paths[len] == ':');
	}
}

X509_STORE *capsid__worker_trust(void)
{
	X509_STORE *store = X509_STORE_new();
	const char *file = place(X509_get_default_cert_file_env());
	const char *folders = place(X509_get_default_cert_dir_env());
	bool own = file != NULL || folders != NULL;

	if (store == NULL)
		return NULL;
	if (!own)
		file = X509_get_default_cert_file();
	/* a machine's folder holds the same as its file, and to load one of
	 * them takes 0.1 s */
	if (file != NULL && X509_STORE_load_locations(store, file, NULL) != 1 &&
		!own)
		folders = X509_get_default_cert_dir();
	if (folders != NULL)
		load_folders(store, folders);
	ERR_clear_error();
	return store;
}

static void on_state(const SSL *ssl, int where, int value)
{
	const struct capsid__worker_before *before =
		SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

	(void)value;
	if ((where & SSL_CB_HANDSHAKE_START) != 0)
		before->call(before->payload);
}

void capsid__worker_tls(SSL_CTX *context, X509_STORE *trust,
	struct capsid__worker_before *before)
{
	if (X509_STORE_up_ref(trust) == 1)
		SSL_CTX_set_cert_store(context, trust);
	SSL_CTX_set_options(
		context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_app_data(context, before);
	SSL_CTX_set_info_callback(context, on_state);
}
