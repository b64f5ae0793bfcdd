/*
 * The TLS of the bridge (worker.c): the certificates of authorities, loaded
 * once in the zygote, and the moment before the first handshake, in which the
 * bridge shuts itself in. Nothing of a peer has been read by then.
 */
#ifndef CAPSID_GUEST_WORKER_TLS_H
#define CAPSID_GUEST_WORKER_TLS_H

#include <openssl/ssl.h>

/*
 * What SSL_CERT_FILE and SSL_CERT_DIR name, or else what the machine trusts,
 * with every certificate in memory: OpenSSL opens those of a folder during a
 * handshake, when files are out of reach. Owned: X509_STORE_free. NULL: no
 * memory.
 */
X509_STORE *capsid__worker_trust(void);

/* What is called when a handshake begins. */
struct capsid__worker_before {
	void (*call)(void *payload);
	void *payload;
};

/*
 * A client's context: it verifies against `trust` alone, and has no
 * renegotiation and no compression. `before` is borrowed for its life.
 */
void capsid__worker_tls(SSL_CTX *context, X509_STORE *trust,
	struct capsid__worker_before *before);

#endif
