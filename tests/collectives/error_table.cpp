#include "tests/collectives/error_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "calibration/collective_site.hpp"
#include "model/collectives/pricer.hpp"
#include "model/collectives/wiring_shape.hpp"

namespace wirewise::test {
namespace {

constexpr const char* kSizes[] = {"< 1 MiB", "1-64 MiB", ">= 64 MiB"};

double quantile_of(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

std::string wiring_of(const Judged& one) {
    if (one.run.nodes > 1) return "several nodes";
    if (one.algorithm.find("shm") != std::string::npos) return "host memory";
    if (one.algorithm.find("net") != std::string::npos) return "sockets";
    if (one.bottleneck.find("NVSwitch") != std::string::npos ||
        one.bottleneck.find("channels") != std::string::npos)
        return "NVSwitch";
    if (one.bottleneck.find("PCIe") != std::string::npos) return "PCIe peers";
    if (one.bottleneck.find("launch") != std::string::npos) return "launch";
    return "NVLink bridge, mesh";
}

}  // namespace

Judged judge(const PublishedCollective& run) {
    const CollectiveSite site = site_of(run);
    const CollectivePricer pricer(site.machine, site.environment, {site.gpus});
    const CollectivePrice price = pricer.price(run.op, run.bytes);
    return {run,
            price.busbw.value(),
            price.busbw_low.value(),
            price.busbw_high.value(),
            PairLabels(site.machine).uniform(),
            fmt::format("{} {} {}", price.algorithm, price.protocol, price.transport),
            std::string(price.bottleneck)};
}

double ErrorClass::quantile(double share) const { return quantile_of(errors, share); }

SizeClass size_class(Bytes bytes) {
    if (bytes < 1_MiB) return SizeClass::small;
    return bytes < 64_MiB ? SizeClass::middle : SizeClass::large;
}

ErrorClass errors_of(const std::vector<Judged>& judged, SizeClass size) {
    ErrorClass result{kSizes[static_cast<int>(size)], {}};
    for (const Judged& one : judged)
        if (size_class(one.run.bytes) == size) result.errors.push_back(std::abs(one.error()));
    return result;
}

ErrorClass box_medians(const std::vector<Judged>& judged, SizeClass size) {
    std::map<std::string, std::vector<double>> boxes;
    for (const Judged& one : judged)
        if (size_class(one.run.bytes) == size) boxes[one.run.box].push_back(std::abs(one.error()));
    ErrorClass result{kSizes[static_cast<int>(size)], {}};
    for (const auto& [box, errors] : boxes) result.errors.push_back(quantile_of(errors, 0.5));
    return result;
}

std::string table(const std::vector<Judged>& judged) {
    std::string text = fmt::format("{:10} {:22} {:>4} {:>8} {:>8} {:>8}\n", "size", "wiring", "n", "median",
                                   "p90", "inside");
    const auto line = [&](const char* size, const std::string& wiring, const ErrorClass& of, int inside) {
        text += fmt::format("{:10} {:22} {:4} {:7.1f}% {:7.1f}% {:>7}\n", size, wiring, of.errors.size(),
                            100 * of.median(), 100 * of.quantile(0.9),
                            inside < 0 ? "" : fmt::format("{}%", inside));
    };
    for (const SizeClass size : {SizeClass::large, SizeClass::middle, SizeClass::small}) {
        const char* name = kSizes[static_cast<int>(size)];
        std::map<std::string, ErrorClass> wirings;
        std::map<std::string, int> inside;
        int all_inside = 0;
        for (const Judged& one : judged) {
            if (size_class(one.run.bytes) != size) continue;
            const double measured = one.run.busbw.value();
            const bool in = measured >= one.low && measured <= one.high;
            wirings[wiring_of(one)].errors.push_back(std::abs(one.error()));
            inside[wiring_of(one)] += in;
            all_inside += in;
        }
        for (const auto& [wiring, errors] : wirings)
            line(name, wiring, errors, 100 * inside[wiring] / static_cast<int>(errors.errors.size()));
        const ErrorClass all = errors_of(judged, size);
        if (!all.errors.empty())
            line(name, "all", all, 100 * all_inside / static_cast<int>(all.errors.size()));
        line(name, "one median per box", box_medians(judged, size), -1);
    }
    return text;
}

}  // namespace wirewise::test
