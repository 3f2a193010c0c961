#include "executor/host/host_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <Eigen/QR>

#include "model/cost/kernel_time.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace {

// time = coefficients x terms; calls weigh a sample, so that the step's total comes out right.
class Fit {
  public:
    explicit Fit(int terms) : terms_(terms) {}
    void add(const KernelSample& sample, std::initializer_list<double> terms) {
        rows_.insert(rows_.end(), terms.begin(), terms.end());
        times_.push_back(sample.seconds.value());
        weights_.push_back(std::sqrt(static_cast<double>(sample.calls)));
    }
    bool empty() const { return times_.empty(); }

    // Least squares without negative coefficients: one that comes out negative is left out.
    std::vector<double> solve() const {
        std::vector<int> used;
        for (int term = 0; term < terms_; ++term) used.push_back(term);
        while (!used.empty()) {
            const Eigen::VectorXd found = solve_for(used);
            Eigen::Index lowest = 0;
            if (found.minCoeff(&lowest) >= 0) return spread(used, found);
            used.erase(used.begin() + lowest);
        }
        return std::vector<double>(static_cast<std::size_t>(terms_), 0.0);
    }

  private:
    Eigen::VectorXd solve_for(const std::vector<int>& used) const {
        const auto rows = static_cast<Eigen::Index>(times_.size()),
                   columns = static_cast<Eigen::Index>(used.size());
        Eigen::MatrixXd left(rows, columns);
        Eigen::VectorXd right(rows), scales(columns);
        for (Eigen::Index row = 0; row < rows; ++row) {
            const auto r = static_cast<std::size_t>(row);
            for (Eigen::Index column = 0; column < columns; ++column)
                left(row, column) =
                    weights_[r] * rows_[r * static_cast<std::size_t>(terms_) +
                                        static_cast<std::size_t>(used[static_cast<std::size_t>(column)])];
            right(row) = weights_[r] * times_[r];
        }
        for (Eigen::Index column = 0; column < columns; ++column) {
            const double norm = left.col(column).norm();
            scales(column) = norm > 0 ? norm : 1;
            left.col(column) /= scales(column);
        }
        return left.colPivHouseholderQr().solve(right).cwiseQuotient(scales);
    }
    std::vector<double> spread(const std::vector<int>& used, const Eigen::VectorXd& found) const {
        std::vector<double> all(static_cast<std::size_t>(terms_), 0.0);
        for (std::size_t i = 0; i < used.size(); ++i)
            all[static_cast<std::size_t>(used[i])] = found(static_cast<Eigen::Index>(i));
        return all;
    }

    int terms_;
    std::vector<double> rows_, times_, weights_;
};

// Fast enough to be left out of a sum.
constexpr double kFree = 1e18;
double rate_of(double seconds_per_unit) { return seconds_per_unit > 0 ? 1 / seconds_per_unit : kFree; }

// Fused kernels are bound by arithmetic here, not by bytes: they go at a rate of their own.
Kernel on_host(Kernel kernel) {
    if (auto* const pointwise = std::get_if<Pointwise>(&kernel))
        if (pointwise->access != AccessClass::gather) pointwise->access = AccessClass::reduction;
    return kernel;
}

template <class Kind, class Use>
void for_each(const HostSamples& samples, const Use& use) {
    for (const KernelSample& sample : samples.kernels)
        if (const auto* const kernel = std::get_if<Kind>(&sample.kernel)) use(sample, *kernel);
}

void fit_gemm(const HostSamples& samples, CostProfile& profile) {
    Fit fit(2);
    for_each<Gemm>(samples, [&](const KernelSample& sample, const Gemm& gemm) {
        CostProfile unit = profile;  // at one flop/s and without fixed cost, the model's time is its work
        unit.gemm = {.rate = {{gemm.type, FlopsPerSecond(1)}}};
        fit.add(sample, {1, gemm_time(gemm, unit).value()});
    });
    const std::vector<double> found = fit.solve();
    profile.gemm.fixed = Seconds(found[0]);
    for (const DType type : {DType::fp32, DType::bf16, DType::fp16})
        profile.gemm.rate[type] = FlopsPerSecond(rate_of(found[1]));
}

// One rate per direction; the model's own factor for narrow heads is divided out.
void fit_attention(const HostSamples& samples, CostProfile& profile) {
    AttentionCosts unit;
    unit.forward = unit.backward = {{0, FlopsPerSecond(1)}};
    unit.half_head_factor = 1;
    profile.attention = unit;
    Fit forward(1), backward(1);
    for_each<Attention>(samples, [&](const KernelSample& sample, const Attention& attention) {
        (attention.backward ? backward : forward).add(sample, {attention_time(attention, profile).value()});
    });
    profile.attention.forward = {{0, FlopsPerSecond(rate_of(forward.solve()[0]))}};
    profile.attention.backward = {{0, FlopsPerSecond(rate_of(backward.solve()[0]))}};
}

void fit_memory(const HostSamples& samples, CostProfile& profile) {
    Fit fused(2), gather(1);
    for_each<Pointwise>(samples, [&](const KernelSample& sample, const Pointwise& kernel) {
        const auto bytes = static_cast<double>(kernel.traffic.count());
        if (kernel.access == AccessClass::gather)
            gather.add(sample, {bytes});
        else
            fused.add(sample, {1, bytes});
    });
    const std::vector<double> found = fused.solve();
    MemoryCosts& memory = profile.memory;
    memory.fixed = Seconds(found[0]);
    memory.reduction_rate = BytesPerSecond(rate_of(found[1]));
    memory.vector_rate = samples.copy_rate;
    memory.broadcast_elements_per_second = kFree;
    memory.gather_rate = BytesPerSecond(rate_of(gather.solve()[0]));
}

void fit_update(const HostSamples& samples, CostProfile& profile) {
    Fit fit(1);
    for_each<OptimizerUpdate>(samples, [&](const KernelSample& sample, const OptimizerUpdate& update) {
        fit.add(sample, {static_cast<double>(update.traffic.count())});
    });
    profile.optimizer.rate = BytesPerSecond(rate_of(fit.solve()[0]));
    profile.optimizer.elements_per_second = kFree;
}

double residual_of(const HostSamples& samples, const CostProfile& profile) {
    double error = 0, total = 0;
    for (const KernelSample& sample : samples.kernels) {
        const double time = sample.seconds.value() * sample.calls;
        error += std::abs(kernel_time(on_host(sample.kernel), profile).value() * sample.calls - time);
        total += time;
    }
    return total > 0 ? error / total : 0;
}

std::string name_of_collective(CollectiveKind kind, int ranks) {
    return fmt::format("{}, {} ranks", name_of(kind), ranks);
}

// A line through the samples of one kind; where all are of one size, a rate.
void fit_collectives(const HostSamples& samples, const StepProgram& program, CostProfile& profile) {
    std::map<std::string, std::vector<KernelSample>> by_name;
    std::map<std::string, std::vector<double>> sizes;
    for (const CollectiveSample& sample : samples.collectives) {
        const std::string name =
            name_of_collective(sample.kind, program.axis_sizes[static_cast<std::size_t>(sample.axis)]);
        by_name[name].push_back({{}, 1, sample.seconds});
        sizes[name].push_back(static_cast<double>(sample.bytes.count()));
    }
    for (const auto& [name, rows] : by_name) {
        Fit fit(2);
        for (std::size_t i = 0; i < rows.size(); ++i) fit.add(rows[i], {1, sizes[name][i]});
        const std::vector<double> found = fit.solve();
        profile.collectives[name] = {Seconds(found[0]), BytesPerSecond(rate_of(found[1]))};
    }
}

}  // namespace

CostProfile host_profile(const HostSamples& samples, const StepProgram& program) {
    CostProfile profile;
    profile.name = profile.gpu = "host";
    profile.measured = true;
    profile.multiprocessors = 1;
    profile.memory.vector_rate = BytesPerSecond(kFree);  // while GEMM's own terms are found
    fit_gemm(samples, profile);
    fit_attention(samples, profile);
    fit_memory(samples, profile);
    fit_update(samples, profile);
    fit_collectives(samples, program, profile);
    profile.copy = {samples.copy_rate, samples.copy_rate, samples.copy_rate, Seconds(0)};
    profile.runtimes["native"] = {.run_ahead = 1e6};
    const Origin origin{"measured: built-in bench of this machine", "",
                        static_cast<int>(samples.kernels.size()), residual_of(samples, profile)};
    for (const char* group : {"gemm", "attention", "memory", "optimizer", "copy"})
        profile.origins[group] = origin;
    return profile;
}

CollectivePrice host_collective_price(const CostProfile& profile, int ranks, CollectiveKind kind,
                                      Bytes bytes) {
    const auto found = profile.collectives.find(name_of_collective(kind, ranks));
    CollectivePrice price;
    price.seconds = found == profile.collectives.end() ? 2 * bytes / profile.copy.device_to_device
                                                       : found->second.fixed + bytes / found->second.rate;
    price.algbw = bytes / std::max(price.seconds, Seconds(1e-12));
    price.algorithm = "Ring", price.protocol = "Simple", price.transport = "memory";
    price.bottleneck = "host memory";
    return price;
}

StepProgram as_run_on_host(StepProgram program) {
    for (Op& op : program.ops) op.stream = StreamId{};
    for (Kernel& kernel : program.kernels) kernel = on_host(kernel);
    return program;
}

}  // namespace wirewise
