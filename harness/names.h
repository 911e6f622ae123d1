/* SPDX-License-Identifier: MIT */
/* The names of features, architectures, classes and kernels on command lines and in JSON: one home
 * each. */
#ifndef HARNESS_NAMES_H
#define HARNESS_NAMES_H

#include "everycore/kernel.h"

#include "options.h"

const char *arch_name(enum evc_arch arch);
const char *timing_name(unsigned timing);
const char *use_name(unsigned use);

enum evc_arch arch_named(const char *word);                        /* unknown: exit 2 */
unsigned policy_named(const char *word);                           /* cumulative; unknown: exit 2 */
uint64_t features_named(enum evc_arch arch, const struct words *); /* unknown: exit 2 */

/* The features of this CPU, but for those that a command was told to do without. */
uint64_t features_here(void);
void do_without(const struct words *); /* names of features; unknown: exit 2 */

/* A member with the list of the names of the bits of word, which is of that architecture. */
void emit_features(const char *member, enum evc_arch arch, uint64_t word);

/* The names of the bits, separated by spaces, in text (of n characters); returns text. */
const char *features_text(char *text, size_t n, enum evc_arch arch, uint64_t word);

/* Exit 2 unless each word is a primitive; unless the word is a kernel of that
 * primitive, or of any (NULL). */
void must_be_primitives(const struct words *);
void must_be_kernel_of(const char *primitive, const char *word);

/* words empty, or word among them. */
bool chosen(const struct words *words, const char *word);

/* The features that the kernel of a line needs and this CPU lacks: features without tuning
 * bits; tuning bits alone. */
uint64_t missing_features(const struct evc_registry_line *line);
uint64_t missing_tuning(const struct evc_registry_line *line);
/* In this library, and all that it needs is there. */
bool runs_here(const struct evc_registry_line *line);

/* Why not, in text (of n characters): "needs vaes avx2", "needs architecture a64"; returns text. */
const char *why_not_here(char *text, size_t n, const struct evc_registry_line *line);

#endif
