/* SPDX-License-Identifier: MIT */
/*
 * The first and only program of an emulated system: says that the kernel is up, makes it work, says
 * so, and turns the system off. The kernel gives it WORK in its environment: everycore.work on its
 * command line would go to a module.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_EXCHANGES 200 /* of a byte between two processes, in each unit of work */
#define N_LOOKUPS 200   /* of files */

static void
echo_until_end(int from, int to)
{
    char byte;
    while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
        ;
    _exit(0);
}

/* A process is made, spoken with and waited for; files are looked up. The number of
 * answers: all, or less. */
static unsigned
unit_of_work(void)
{
    int there[2], back[2];
    unsigned answers = 0;
    char byte = 'x';
    struct stat status;
    if (pipe(there) || pipe(back))
        return 0;
    pid_t child = fork();
    if (child < 0)
        return 0;
    if (child == 0) {
        close(there[1]);
        echo_until_end(there[0], back[1]);
    }
    for (int i = 0; i < N_EXCHANGES; i++)
        answers += write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1;
    for (int i = 0; i < N_LOOKUPS; i++)
        answers += stat("/init", &status) == 0;
    for (int i = 0; i < 2; i++) {
        close(there[i]);
        close(back[i]);
    }
    waitpid(child, NULL, 0);
    return answers;
}

int
main(void)
{
    const char *given = getenv("WORK");
    unsigned long work = given ? strtoul(given, NULL, 10) : 0;
    unsigned long answers = 0, wanted = work * (N_EXCHANGES + N_LOOKUPS);
    printf("everycore: up\n");
    fflush(stdout);
    while (work--)
        answers += unit_of_work();
    if (answers == wanted)
        printf("everycore: all %lu answers\n", answers);
    else
        printf("everycore: %lu answers, not %lu\n", answers, wanted);
    fflush(stdout);
    reboot(RB_POWER_OFF);
    return 0;
}
