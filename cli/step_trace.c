/*
 * A step as a Chrome trace.
 *
 * The compute stream is a thread of complete slices ("X"). Collectives and host transfers may
 * overlap, so each is an asynchronous slice ("b" and "e", matched by id), which gets a row per
 * name. Times are microseconds; six decimals keep the picoseconds.
 */
#include "cli/step_trace.h"

#include <inttypes.h>

#include "base/arena.h"
#include "cli/step_words.h"

struct step_trace {
    FILE *out;
    uint64_t count;
    struct wl_step_observer observer;
};

static void put_time(FILE *out, const char *key, sim_ps ps)
{
    fprintf(out, ",\"%s\":%" PRId64 ".%06" PRId64, key, ps / SIM_PS_PER_US, ps % SIM_PS_PER_US);
}

static void put_compute(FILE *out, const struct wl_class *class, sim_ps start_ps, sim_ps end_ps)
{
    fprintf(out, ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"cat\":\"%s\",\"name\":\"%s\"",
            wl_pass_names[class->pass], wl_kind_names[class->kind]);
    put_time(out, "ts", start_ps);
    put_time(out, "dur", end_ps - start_ps);
    fputc('}', out);
}

static void put_edge(FILE *out, char phase, const struct wl_class *class, uint64_t id, sim_ps at_ps)
{
    const char *axis = wl_graph_axis_name(class->axis);
    fprintf(out,
            ",\n{\"ph\":\"%c\",\"pid\":0,\"tid\":1,\"cat\":\"%s\",\"id\":%" PRIu64
            ",\"name\":\"%s %s of %s\"",
            phase, axis, id, axis, step_op_text(class), wl_traffic_names[class->traffic]);
    put_time(out, "ts", at_ps);
    fputc('}', out);
}

static void on_op(void *context, const struct wl_class *class, sim_ps start_ps, sim_ps end_ps)
{
    step_trace *trace = context;
    trace->count++;
    if (class->is_compute) {
        put_compute(trace->out, class, start_ps, end_ps);
        return;
    }
    put_edge(trace->out, 'b', class, trace->count, start_ps);
    put_edge(trace->out, 'e', class, trace->count, end_ps);
}

step_trace *step_trace_create(FILE *out, const struct wl_study *study, topo_chip_id chip)
{
    step_trace *trace = SIM_NEW(step_trace, 1);
    char where[48];
    trace->out = out;
    trace->observer = (struct wl_step_observer){.context = trace, .chip = chip, .on_op = on_op};
    fprintf(out,
            "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
            "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"chip %s of "
            "%s\"}},\n"
            "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"thread_name\",\"args\":{\"name\":"
            "\"compute\"}}",
            topo_node_format(study->topology, chip, where), topo_spec(study->topology));
    return trace;
}

void step_trace_destroy(step_trace *trace)
{
    if (trace == NULL) return;
    fputs("\n]}\n", trace->out);
    sim_free(trace);
}

const struct wl_step_observer *step_trace_observer(const step_trace *trace)
{
    return trace != NULL ? &trace->observer : NULL;
}
