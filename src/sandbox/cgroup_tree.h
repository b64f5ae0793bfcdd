/*
 * Where cgroups can be made: the trees of this machine that we may write to.
 * For cgroup.c, and for src/oci, whose runtimes make them.
 */
#ifndef CAPSID_SANDBOX_CGROUP_TREE_H
#define CAPSID_SANDBOX_CGROUP_TREE_H

#include <capsid/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CAPSID__CGROUP_MEMORY 1
#define CAPSID__CGROUP_PIDS 2

#define CAPSID__CGROUP_TREES 2

struct capsid__cgroup_tree {
	int parent; /* where our directory lies */
	int fd;     /* our directory */
	unsigned controllers;
	bool unified; /* version 2 */
};

struct capsid__cgroup_trees {
	struct capsid__cgroup_tree tree[CAPSID__CGROUP_TREES];
	size_t count;
	unsigned controllers;
	char name[96]; /* of our directory, the same in all trees */
};

/* Finds the trees, removes what dead hosts left, makes our directories. */
int capsid__cgroup_trees_open(struct capsid__cgroup_trees *trees,
	const char *parent, capsid_error *err);
/* Removes our directories, which must be empty, and closes. */
void capsid__cgroup_trees_close(struct capsid__cgroup_trees *trees);

/* Kills every process in the group `name` of the directory and removes it,
 * with groups below it one deep. False: something is still in it. */
bool capsid__cgroup_remove(int dir, const char *name);

/* A name that tells whose groups are under it; see cgroup_find.c. */
void capsid__cgroup_name(char *out, size_t size);
/* Removes from this directory what dead processes left under such names. */
void capsid__cgroup_sweep(int parent);
/* A process's path in the tree of a controller ("" for version 2), from
 * /proc. False: there is no such tree. */
bool capsid__cgroup_path(
	char *out, size_t size, pid_t pid, const char *controller);
/* The directory where such a path is mounted; false: nowhere. */
bool capsid__cgroup_directory(
	char *out, size_t size, const char *controller, const char *path);

/* The number behind `key` in a file of "key number" lines, or the whole file
 * where the key is NULL. -1: not there. */
int64_t capsid__cgroup_number(int fd, const char *key);
/* The file's text, NUL-terminated; -1: an errno is set. */
int capsid__cgroup_read(int dir, const char *file, char *text, size_t size);
/* 0, or an errno. */
int capsid__cgroup_write(int dir, const char *file, const char *text);

#endif
