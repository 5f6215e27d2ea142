// An all-to-all of 1 MiB a pair on a torus in SimGrid's flow model, as plain max-min: CM02 without
// TCP's window bound, cross traffic and latency. For scripts/bench/flow, which builds it
// when libsimgrid-dev is there; no part of podsim.
//
// Usage: simgrid_torus SHAPE     e.g. 6x6x6; links of 45 GB/s, one each way between neighbours
// Prints: flows, makespan in seconds, user CPU seconds and peak KiB of the process.

#include <simgrid/s4u.hpp>

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace s4u = simgrid::s4u;

namespace {

constexpr double link_bytes_per_s = 45e9;
constexpr std::uint64_t bytes_a_pair = 1 << 20;

std::vector<unsigned long> parse_shape(const std::string &text)
{
    std::vector<unsigned long> sides;
    std::istringstream in(text);
    for (std::string side; std::getline(in, side, 'x');) {
        sides.push_back(std::stoul(side));
    }
    return sides;
}

std::vector<s4u::Host *> build_torus(const std::vector<unsigned long> &sides)
{
    std::vector<s4u::Host *> chips;
    s4u::ClusterCallbacks leaves(
        [&chips](s4u::NetZone *zone, const std::vector<unsigned long> &, unsigned long id) {
            s4u::Host *chip = zone->create_host("chip" + std::to_string(id), 1e9);
            chips.push_back(chip); // ids come in order
            return std::make_pair(chip->get_netpoint(),
                                  static_cast<simgrid::kernel::routing::NetPoint *>(nullptr));
        });
    s4u::create_torus_zone("torus", nullptr, sides, leaves, link_bytes_per_s, 0.0,
                           s4u::Link::SharingPolicy::SPLITDUPLEX)
        ->seal();
    return chips;
}

} // namespace

int main(int argc, char **argv)
{
    s4u::Engine engine(&argc, argv);
    if (argc != 2) {
        std::fprintf(stderr, "usage: simgrid_torus SHAPE\n");
        return 64;
    }
    for (const char *option :
         {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0"}) {
        s4u::Engine::set_config(option);
    }
    const std::vector<s4u::Host *> chips = build_torus(parse_shape(argv[1]));

    s4u::Actor::create("all-to-all", chips.front(), [&chips] {
        std::vector<s4u::CommPtr> flows;
        for (s4u::Host *from : chips) {
            for (s4u::Host *to : chips) {
                if (from != to) {
                    flows.push_back(s4u::Comm::sendto_async(from, to, bytes_a_pair));
                }
            }
        }
        for (const s4u::CommPtr &flow : flows) {
            flow->wait();
        }
    });
    engine.run();

    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const double user_s = static_cast<double>(usage.ru_utime.tv_sec) +
                          1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
    std::printf("%zu %.12g %.3f %ld\n", chips.size() * (chips.size() - 1), s4u::Engine::get_clock(),
                user_s, usage.ru_maxrss);
    return 0;
}
