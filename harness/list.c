/* SPDX-License-Identifier: MIT */
/* list: every line of the registry, in order, and what this library and this CPU make of it. */
#include "everycore/kernel.h"

#include "commands.h"
#include "emit.h"
#include "names.h"

static void list_line(const struct evc_registry_line *line, unsigned rank)
{
    enum evc_arch arch = (enum evc_arch)line->arch;

    emit_begin("kernel");
    emit_text("primitive", line->primitive);
    emit_text("name", line->name);
    emit_unsigned("rank", rank);
    emit_text("arch", arch_name(arch));
    emit_text("isa", line->isa);
    emit_features("needs", arch, line->needs);
    emit_text("timing", timing_name(line->timing));
    emit_text("use", use_name(line->use));
    emit_bool("built", line->built);
    emit_bool("runs", runs_here(line));
    emit_features("missing", arch, missing_features(line) | missing_tuning(line));
    emit_features("missing_tuning", arch, missing_tuning(line));
    if (line->built)
        emit_descriptor(line);
    emit_end();
}

int list_command(int argc, char **argv)
{
    static struct words primitives;
    const struct option options[] = {{"--primitive", OPTION_WORDS, &primitives}};
    const struct evc_registry_line *line;

    options_read(argc, argv, options, sizeof options / sizeof options[0]);
    must_be_primitives(&primitives);
    emit_harness_line("list", NULL);
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (chosen(&primitives, line->primitive))
            list_line(line, i);
    return 0;
}
