#include "calibration/fit/profile_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "calibration/fit/robust_fit.hpp"
#include "model/cost/profile_json.hpp"

namespace wirewise {

namespace {

constexpr double kNoise = 0.04;        // of a sample, until the residuals say better
constexpr double kLeastNoise = 0.005;  // no model is truer than this
constexpr double kClockSpread = 0.1;   // of a run's clock, before
constexpr double kCoolest = 1e-6;      // the coolest run's clock is the unit: it stays
constexpr double kUnbounded = 1e9;
constexpr double kDepends =
    0.01;  // a sample depends on a number that moves it by a hundredth of its own move
constexpr double kMostOfKind = 0.8;  // a group larger than this share of its kind cannot be left out

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Observations of whole steps are of the kind "pytorch step, host-bound".
std::set<std::string> runtimes_of(const std::vector<Observation>& observations) {
    std::set<std::string> runtimes;
    for (const Observation& one : observations)
        if (const std::size_t end = one.kind.find(" step, "); end != std::string::npos)
            runtimes.insert(one.kind.substr(0, end));
    return runtimes;
}

std::vector<Term> without(const std::vector<std::string>& held, std::vector<Term> terms) {
    std::erase_if(terms, [&](const Term& term) { return is_held(term.pointer, held); });
    return terms;
}

class Fitting {
  public:
    Fitting(const Json& document, std::string place, const std::vector<Observation>& observations,
            const std::vector<std::string>& held)
        : document_(document),
          place_(std::move(place)),
          observations_(observations),
          terms_(without(held, terms_of(document, runtimes_of(observations)))) {
        for (const Observation& observation : observations_)
            if (!observation.clock_run.empty()) runs_.insert({observation.clock_run, runs_.size()});
        set_problem();
    }

    ProfileFit run() {
        const Eigen::VectorXd before = without_clock(problem_.residuals(Eigen::VectorXd::Zero(columns())));
        FitResult result = fit(problem_, jacobian_);
        hold_coolest_run(result);
        set_noise(result.residuals);
        result = fit(problem_, jacobian_);
        set_noise(result.residuals);
        result = fit(problem_, jacobian_);
        ProfileFit found{with_values(document_, terms_, values_at(result.logarithms)), {}, {}};
        found.terms = fitted_terms(result);
        for (Eigen::Index i = 0; i < before.size(); ++i)
            found.errors.push_back(
                {std::expm1(before(i)), std::expm1(result.residuals(i)), {}, result.weights(i)});
        leave_groups_out(result, found);
        return found;
    }

  private:
    Eigen::Index columns() const { return static_cast<Eigen::Index>(terms_.size() + runs_.size()); }

    void set_problem() {
        const auto rows = static_cast<Eigen::Index>(observations_.size());
        problem_.spread.setConstant(columns(), kClockSpread);
        problem_.most.setConstant(columns(), kUnbounded);
        problem_.noise.setConstant(rows, kNoise);
        for (std::size_t i = 0; i < terms_.size(); ++i) {
            const auto column = static_cast<Eigen::Index>(i);
            problem_.spread(column) = terms_[i].spread;
            if (terms_[i].most > 0) problem_.most(column) = std::log(terms_[i].most / terms_[i].value);
        }
        problem_.residuals = [this](const Eigen::VectorXd& at) { return residuals_at(at); };
    }

    std::vector<double> values_at(const Eigen::VectorXd& at) const {
        std::vector<double> values;
        for (std::size_t i = 0; i < terms_.size(); ++i)
            values.push_back(terms_[i].value * std::exp(at(static_cast<Eigen::Index>(i))));
        return values;
    }

    double clock_of(const Observation& observation, const Eigen::VectorXd& at) const {
        if (observation.clock_run.empty()) return 0;
        return at(static_cast<Eigen::Index>(terms_.size() + runs_.at(observation.clock_run)));
    }

    Eigen::VectorXd residuals_at(const Eigen::VectorXd& at) const {
        const CostProfile profile =
            profile_from_json(exact_document(document_, terms_, values_at(at)), place_);
        Eigen::VectorXd residuals(static_cast<Eigen::Index>(observations_.size()));
        for (std::size_t i = 0; i < observations_.size(); ++i) {
            const Observation& observation = observations_[i];
            residuals(static_cast<Eigen::Index>(i)) =
                std::log(observation.predict(profile) / observation.seconds) + clock_of(observation, at);
        }
        return residuals;
    }

    // No profile knows the clock of a run that it has not seen: what the run's samples have in common is not
    // an error of the profile.
    Eigen::VectorXd without_clock(Eigen::VectorXd residuals) const {
        std::map<std::string, std::vector<double>> by_run;
        for (std::size_t i = 0; i < observations_.size(); ++i)
            if (!observations_[i].clock_run.empty())
                by_run[observations_[i].clock_run].push_back(residuals(static_cast<Eigen::Index>(i)));
        for (std::size_t i = 0; i < observations_.size(); ++i)
            if (!observations_[i].clock_run.empty())
                residuals(static_cast<Eigen::Index>(i)) -= median(by_run[observations_[i].clock_run]);
        return residuals;
    }

    // A row of samples heats the GPU, which slows its clock: what they have in common is the clock's. The
    // rates of the profile are those of the coolest run.
    void hold_coolest_run(const FitResult& result) {
        if (runs_.empty()) return;
        Eigen::Index coolest = 0;
        result.logarithms.tail(static_cast<Eigen::Index>(runs_.size())).minCoeff(&coolest);
        problem_.spread(static_cast<Eigen::Index>(terms_.size()) + coolest) = kCoolest;
    }

    // Each kind's own, by the median of its residuals, which outliers do not move.
    void set_noise(const Eigen::VectorXd& residuals) {
        std::map<std::string, std::vector<double>> by_kind;
        for (std::size_t i = 0; i < observations_.size(); ++i)
            by_kind[observations_[i].kind].push_back(std::abs(residuals(static_cast<Eigen::Index>(i))));
        constexpr double kNormal = 1.4826;  // from the median of sizes to a standard deviation
        for (std::size_t i = 0; i < observations_.size(); ++i)
            problem_.noise(static_cast<Eigen::Index>(i)) =
                std::max(kLeastNoise, kNormal * median(by_kind[observations_[i].kind]));
    }

    std::vector<FittedTerm> fitted_terms(const FitResult& result) const {
        const std::vector<double> values = values_at(result.logarithms);
        std::vector<FittedTerm> found;
        for (std::size_t i = 0; i < terms_.size(); ++i) {
            const auto column = static_cast<Eigen::Index>(i);
            FittedTerm fitted{terms_[i], values[i], result.spread(column), 0, 0};
            for (Eigen::Index row = 0; row < jacobian_.rows(); ++row) {
                if (std::abs(jacobian_(row, column)) < kDepends) continue;
                ++fitted.samples;
                fitted.residual += std::abs(std::expm1(result.residuals(row)));
            }
            if (fitted.samples == 0) continue;
            fitted.residual /= fitted.samples;
            found.push_back(fitted);
        }
        return found;
    }

    std::set<std::string> groups_to_leave_out() const {
        std::map<std::string, std::map<std::string, int>> in_group;  // by group, by kind
        std::map<std::string, int> of_kind;
        for (const Observation& observation : observations_) {
            ++of_kind[observation.kind];
            for (const std::string& group : observation.groups) ++in_group[group][observation.kind];
        }
        std::set<std::string> groups;
        for (const auto& [group, kinds] : in_group) {
            const bool leaves_some = std::all_of(kinds.begin(), kinds.end(), [&](const auto& kind) {
                return kind.second <= kMostOfKind * of_kind[kind.first];
            });
            if (leaves_some) groups.insert(group);
        }
        return groups;
    }

    void leave_groups_out(const FitResult& whole, ProfileFit& found) const {
        for (const std::string& group : groups_to_leave_out()) {
            Eigen::VectorXd use = Eigen::VectorXd::Ones(problem_.noise.size());
            for (std::size_t i = 0; i < observations_.size(); ++i)
                if (contains(observations_[i].groups, group)) use(static_cast<Eigen::Index>(i)) = 0;
            const Eigen::VectorXd without =
                without_clock(fit_with(problem_, jacobian_, whole.logarithms, use).residuals);
            for (std::size_t i = 0; i < observations_.size(); ++i)
                if (use(static_cast<Eigen::Index>(i)) == 0)
                    found.errors[i].left_out.push_back(std::expm1(without(static_cast<Eigen::Index>(i))));
        }
    }

    static bool contains(const std::vector<std::string>& groups, const std::string& group) {
        return std::find(groups.begin(), groups.end(), group) != groups.end();
    }

    const Json& document_;
    const std::string place_;
    const std::vector<Observation>& observations_;
    const std::vector<Term> terms_;
    std::map<std::string, std::size_t> runs_;  // columns after those of the terms
    FitProblem problem_;
    Eigen::MatrixXd jacobian_;
};

}  // namespace

ProfileFit fit_profile(const Json& document, const std::string& place,
                       const std::vector<Observation>& observations, const std::vector<std::string>& held) {
    if (observations.empty()) return {document, {}, {}};
    return Fitting(document, place, observations, held).run();
}

}  // namespace wirewise
