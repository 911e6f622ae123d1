/* SPDX-License-Identifier: MIT */
/* Modules without a kernel to load them: the program calls what registers the cipher. */
#ifndef SUBJECT_LINUX_MODULE_H
#define SUBJECT_LINUX_MODULE_H

#include "types.h"

#define __init
#define __exit __attribute__((unused))
#define THIS_MODULE NULL
#define EXPORT_SYMBOL(name)
#define EXPORT_SYMBOL_GPL(name)
#define MODULE_ALIAS_CRYPTO(name)
#define MODULE_AUTHOR(name)
#define MODULE_DESCRIPTION(text)
#define MODULE_LICENSE(text)
#define subsys_initcall(function) int (*subject_register)(void) = function;
#define module_exit(function)

#endif
