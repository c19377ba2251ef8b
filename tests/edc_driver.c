/* Plays Batsim 5's part towards libraries with a decision component: messages from standard input, answers to standard
 * output. Arguments: dlopen or dlmopen; thread or stack (a stack of its own, as SimGrid's actors have); libraries.
 *
 * In, for each call: 'i', 't' or 'd' (init, take_decisions, deinit) or 'x' (exit), number of the library, size, bytes.
 * Out, for each call: result, flags, nanoseconds, size, bytes. Numbers have 8 bytes, in the order of this machine. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define MOST 16

typedef uint8_t (*Init)(const uint8_t *, uint32_t, uint32_t *, uint8_t **, uint32_t *);
typedef uint8_t (*Take)(const uint8_t *, uint32_t, uint8_t **, uint32_t *);
typedef uint8_t (*Deinit)(void);

static struct {
    Init init;
    Take take;
    Deinit deinit;
} libraries[MOST];
static ucontext_t outer, inner;

static void *found(void *library, const char *name) {
    void *function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "driver: %s\n", dlerror());
        exit(9);
    }
    return function;
}

static uint64_t number(void) {
    uint64_t value;
    if (fread(&value, sizeof value, 1, stdin) != 1)
        exit(9);
    return value;
}

static void put(uint64_t value) { fwrite(&value, sizeof value, 1, stdout); }

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void play(void) {
    int kind;
    while ((kind = getchar()) != EOF) {
        uint64_t library = number(), size = number(), began;
        uint32_t flags = 0, reply_size = 0;
        uint8_t *content = malloc(size + 1), *reply = NULL, result;
        if (size && fread(content, size, 1, stdin) != 1)
            exit(9);
        if (kind == 'x')
            exit(0);
        began = now();
        if (kind == 'i')
            result = libraries[library].init(content, (uint32_t)size, &flags, &reply, &reply_size);
        else if (kind == 't')
            result = libraries[library].take(content, (uint32_t)size, &reply, &reply_size);
        else
            result = libraries[library].deinit();
        began = now() - began;
        if (reply && reply_size && strlen((char *)reply) + 1 - reply_size > 1) { /* Batsim reads to the NUL, not the size */
            fprintf(stderr, "driver: the reply is not a text of its size\n");
            exit(9);
        }
        put(result), put(flags), put(began), put(reply_size);
        fwrite(reply, 1, reply_size, stdout);
        fflush(stdout);
        free(content);
    }
}

int main(int count, char **words) {
    for (int at = 3; at < count && at - 3 < MOST; at++) {
        int apart = strcmp(words[1], "dlmopen") == 0;
        void *library = apart ? dlmopen(LM_ID_NEWLM, words[at], RTLD_NOW | RTLD_LOCAL) : dlopen(words[at], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "driver: %s\n", dlerror());
            return 9;
        }
        libraries[at - 3].init = (Init)found(library, "batsim_edc_init");
        libraries[at - 3].take = (Take)found(library, "batsim_edc_take_decisions");
        libraries[at - 3].deinit = (Deinit)found(library, "batsim_edc_deinit");
    }
    if (strcmp(words[2], "stack") != 0) {
        play();
        return 0;
    }
    size_t size = 8u << 20; /* SimGrid's default */
    getcontext(&inner);
    inner.uc_stack.ss_sp = malloc(size);
    inner.uc_stack.ss_size = size;
    inner.uc_link = &outer;
    makecontext(&inner, play, 0);
    swapcontext(&outer, &inner);
    return 0;
}
