// A profile's document fitted to observations: the numbers that explain them best, how sure each is, and what
// the fit is worth on groups of observations that it has not seen.
#pragma once

#include <string>
#include <vector>

#include "calibration/fit/observation.hpp"
#include "calibration/fit/terms.hpp"

namespace wirewise {

struct FittedTerm {
    Term term;            // as it was
    double value = 0;     // now
    double spread = 0;    // standard error of its logarithm
    int samples = 0;      // that depend on it
    double residual = 0;  // mean absolute relative error of those
};

struct ObservedError {
    double before = 0, after = 0;  // predicted / measured - 1, by the old document and by the fitted one
    // By a fit that has not seen the observation's group, one for each such group.
    std::vector<double> left_out;
    double weight = 1;  // in the fit: below 1 where it did not belong to the rest
};

struct ProfileFit {
    Json document;
    std::vector<FittedTerm> terms;      // those that observations depend on
    std::vector<ObservedError> errors;  // one per observation
};

// `place` names the document in messages; numbers below the pointers in `held` stay as they are.
ProfileFit fit_profile(const Json& document, const std::string& place,
                       const std::vector<Observation>& observations,
                       const std::vector<std::string>& held = {});

}  // namespace wirewise
