/**
 * Faults: chips, hosts, links, cubes and optical switches that are out of order.
 *
 *     chip:3,4,5            a chip, by coordinates
 *     link:0,0,0:+x         a cable, both ways; link:0,0,0:+x:out only the way out of that chip
 *     host:5                the chips of a host (hosts are numbered like chips, x fastest)
 *     cube:1,0,2            the 64 chips at a place of the slice's grid of cubes
 *     ocs:x7                an optical switch: dimension and face position; its cables are dark
 *
 * separated by ";". Random ones: "links=3,chips=1,seed=7".
 *
 * A failed chip keeps its id and loses its links. A fault that cuts working chips off from each
 * other is an error that names them.
 *
 * In a repaired slice of cubes the cube of a failed chip or host, or of the chip a failed cable is
 * named by, gives its place to a spare one. Dark optical switches stay dark: they serve all cubes.
 */
#ifndef PODSIM_TOPO_FAULT_H
#define PODSIM_TOPO_FAULT_H

#include "topo/topo.h"

/** Add faults to those an option may already name. Errors: SIM_EUSAGE (too many characters). */
SIM_MUST_CHECK enum sim_status topo_options_fail(struct topo_options *options, const char *faults,
                                                 struct sim_error *err);

/** Take the options' faults out of a topology just built, which may then be repaired. Errors:
 * SIM_EDATA. */
SIM_MUST_CHECK enum sim_status topo_faults_apply(topo *t, const struct topo_options *options,
                                                 struct sim_error *err);

#endif
