/*
 * Capabilities, by the system calls themselves.
 */
#include "sandbox/state.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int capsid__privilege_bound(void)
{
	/* root has no power by being root, keeps none and regains none */
	const unsigned long bits =
		SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
		SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
		SECBIT_NO_CAP_AMBIENT_RAISE |
		SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	for (int cap = 0; cap < 64; cap++) {
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		if (errno == EINVAL)
			break; /* past the last one */
		return errno;
	}
	return prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) != 0 ? errno : 0;
}

bool capsid__privilege_unbound(void)
{
	for (int cap = 0; cap < 64; cap++) {
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			return true;
	}
	return false;
}

int capsid__privilege_keep(uint64_t mask)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct now[2], data[2] = { 0 };

	if (syscall(SYS_capget, &header, now) != 0)
		return errno;
	for (int i = 0; i < 2; i++) {
		uint32_t wanted = (uint32_t)(mask >> (32 * i));

		data[i].permitted = now[i].permitted & wanted;
		data[i].effective = data[i].permitted;
	}
	return syscall(SYS_capset, &header, data) != 0 ? errno : 0;
}

int capsid__privilege_none(void)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 &&
		errno != EINVAL)
		return errno;
	return capsid__privilege_keep(0);
}
