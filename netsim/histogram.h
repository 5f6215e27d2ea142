/**
 * Counts of values by size: exact below 1,024, above within 1/512.
 */
#ifndef PODSIM_NETSIM_HISTOGRAM_H
#define PODSIM_NETSIM_HISTOGRAM_H

#include <stdint.h>

typedef struct net_histogram net_histogram;

net_histogram *net_histogram_create(void);
void net_histogram_destroy(net_histogram *h);
void net_histogram_add(net_histogram *h, uint64_t value);
/** Every rank's becomes that of all ranks' values. */
void net_histogram_share(net_histogram *h);
uint64_t net_histogram_count(const net_histogram *h);
uint64_t net_histogram_max(const net_histogram *h);
/** Of all values, exactly (up to 2^53). */
double net_histogram_mean(const net_histogram *h);
/** The smallest value that at least `share` of the values do not exceed; 0 when there are none. */
uint64_t net_histogram_quantile(const net_histogram *h, double share);

#endif
