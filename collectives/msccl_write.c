/*
 * An algorithm as XML. Names keep to what XML text allows: the rest is escaped.
 */
#include "collectives/msccl_internal.h"

static void write_escaped(const char *text, FILE *out)
{
    for (; *text != 0; text++) {
        const char *escaped = *text == '&'   ? "&amp;"
                              : *text == '<' ? "&lt;"
                              : *text == '"' ? "&quot;"
                                             : NULL;
        if (escaped != NULL)
            fputs(escaped, out);
        else
            fputc(*text, out);
    }
}

static void write_step(const struct msccl_step *step, FILE *out)
{
    fprintf(out,
            "      <step s=\"%d\" type=\"%s\" srcbuf=\"%s\" srcoff=\"%d\" dstbuf=\"%s\" "
            "dstoff=\"%d\" cnt=\"%d\" depid=\"%d\" deps=\"%d\" hasdep=\"%d\"/>\n",
            step->index, msccl_type_names[step->type], msccl_buffer_names[step->src_buffer],
            step->src_offset, msccl_buffer_names[step->dst_buffer], step->dst_offset, step->count,
            step->dep_block, step->dep_index, step->has_dependent);
}

static void write_block(const coll_msccl *a, const struct msccl_block *block, FILE *out)
{
    fprintf(out, "    <tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"%d\">\n", block->id, block->send,
            block->receive, block->channel);
    for (uint32_t i = block->step_begin; i < block->step_end; i++)
        write_step(&a->step[i], out);
    fputs("    </tb>\n", out);
}

void coll_msccl_write(const coll_msccl *a, FILE *out)
{
    fputs("<algo name=\"", out);
    write_escaped(a->name, out);
    fprintf(out,
            "\" proto=\"%s\" nchannels=\"%u\" nchunksperloop=\"%u\" ngpus=\"%u\" coll=\"%s\" "
            "inplace=\"%d\" outofplace=\"%d\" minBytes=\"%llu\" maxBytes=\"%llu\">\n",
            msccl_proto_names[a->proto], a->channels, a->chunks, a->gpus, msccl_coll_name(a->op),
            a->in_place, a->out_of_place, (unsigned long long)a->least_bytes,
            (unsigned long long)a->most_bytes);
    for (uint32_t g = 0; g < a->gpu_count; g++) {
        const struct msccl_gpu *gpu = &a->gpu[g];
        fprintf(out, "  <gpu id=\"%u\" i_chunks=\"%u\" o_chunks=\"%u\" s_chunks=\"%u\">\n", gpu->id,
                gpu->chunks[MSCCL_INPUT], gpu->chunks[MSCCL_OUTPUT], gpu->chunks[MSCCL_SCRATCH]);
        for (uint32_t b = gpu->block_begin; b < gpu->block_end; b++)
            write_block(a, &a->block[b], out);
        fputs("  </gpu>\n", out);
    }
    fputs("</algo>\n", out);
}
