/*
 * Every fixed message of the contract, as printf formats, one a line: adapters
 * in other languages generate theirs from this file. %PRIu64 and %d are
 * numbers, %s is text, and %s where a name is quoted is a JSON string token
 * with its quotes.
 */
#ifndef CAPSID_CONTRACT_MESSAGES_H
#define CAPSID_CONTRACT_MESSAGES_H

#include <inttypes.h>

/* clang-format off */

/* Outcomes of a run. */
#define CAPSID__MESSAGE_UNRENDERABLE "program threw an unrenderable value"
#define CAPSID__MESSAGE_COMPUTE_BUDGET "compute budget exhausted (%" PRIu64 "ms busy)"
#define CAPSID__MESSAGE_WALL_CEILING "wall-clock ceiling reached (%" PRIu64 "ms)"
#define CAPSID__MESSAGE_WORKER_EXIT "worker exited with code %d before completing"
#define CAPSID__MESSAGE_OUT_OF_MEMORY "out of memory: heap limit %" PRIu64 " MiB"
#define CAPSID__MESSAGE_KILLED "killed by %s"
#define CAPSID__MESSAGE_INVALID_OUTPUT "program completion must be lossless JSON"
#define CAPSID__MESSAGE_OUTPUT_LIMIT "outer output exceeded %" PRIu64 " bytes"
#define CAPSID__MESSAGE_OUTPUT_VALUES "outer output exceeded %" PRIu64 " values"
#define CAPSID__MESSAGE_DISPOSED "runtime disposed"

/* What a call rejects with. */
#define CAPSID__MESSAGE_ARGUMENTS "binding arguments must be lossless JSON"
#define CAPSID__MESSAGE_ARGUMENT_BYTES "binding argument is longer than %" PRIu64 " bytes (maxArgumentBytes)"
#define CAPSID__MESSAGE_ARGUMENT_VALUES "binding argument holds more than %" PRIu64 " values (maxValues)"
#define CAPSID__MESSAGE_CALLS_IN_FLIGHT "too many calls in flight (%" PRIu64 ")"
#define CAPSID__MESSAGE_BYTES_IN_FLIGHT "too many bytes of arguments in flight (%" PRIu64 ")"
#define CAPSID__MESSAGE_VALUES_IN_FLIGHT "too many values of arguments in flight (%" PRIu64 ", maxValues)"
#define CAPSID__MESSAGE_RESOLUTION "binding resolution must be lossless JSON"
#define CAPSID__MESSAGE_UNKNOWN_BINDING "unknown binding \"%s.%s\""

/* Misuse by the caller. */
#define CAPSID__MESSAGE_AFTER_DISPOSAL "run() after disposal"
#define CAPSID__MESSAGE_GLOBAL_UNUSABLE "binding global %s is not a usable identifier"
#define CAPSID__MESSAGE_GLOBAL_RESERVED "reserved binding global %s"
#define CAPSID__MESSAGE_GLOBAL_DUPLICATE "duplicate binding global %s"
#define CAPSID__MESSAGE_CLASS_UNUSABLE "binding error class %s is not a usable identifier"
#define CAPSID__MESSAGE_INJECTED_DUPLICATE "duplicate injected global %s"
#define CAPSID__MESSAGE_MEMBER_UNUSABLE "binding error member property %s is not usable"

/* clang-format on */

#endif
