/*
 * The result as it is put together; run/result.c has its public face.
 */
#ifndef CAPSID_RUN_RESULT_H
#define CAPSID_RUN_RESULT_H

#include "base/buf.h"
#include "contract/kinds.h"
#include "contract/ledger.h"
#include "json/span.h"

#include <capsid/run.h>

/* How a run ended, before the ledger has had its say. */
struct capsid__outcome {
	enum capsid__kind kind; /* CAPSID__KIND_NONE: it succeeded */
	bool has_value;
	/* the completion as JSON, or the message as a JSON string token */
	struct capsid__buf text;
};

/* Takes the ledger and the outcome over, also on failure. */
int capsid__result_new(capsid_result **out, struct capsid__ledger *ledger,
	struct capsid__outcome *outcome, int64_t compute_us, capsid_error *err);

#endif
