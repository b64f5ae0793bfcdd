/*
 * The mark of a function that libcapsid exports.
 */
#ifndef CAPSID_API_H
#define CAPSID_API_H

#if defined(__GNUC__)
#define CAPSID_API __attribute__((visibility("default")))
#else
#define CAPSID_API
#endif

#endif
