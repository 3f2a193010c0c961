// Robust least squares over positive numbers: relative residuals, Huber's loss by iterated reweighting, what
// was known before as a prior, steps of Gauss and Newton in the logarithms.
#pragma once

#include <functional>
#include <vector>

#include <Eigen/Core>

namespace wirewise {

// What is sought: factors on the starting values, by their logarithms.
struct FitProblem {
    // log(predicted / measured) of every sample for these logarithms of factors.
    std::function<Eigen::VectorXd(const Eigen::VectorXd&)> residuals;
    Eigen::VectorXd spread;  // prior: how far each logarithm may be from zero
    Eigen::VectorXd most;    // upper bounds of the logarithms
    Eigen::VectorXd noise;   // of each sample
};

struct FitResult {
    Eigen::VectorXd logarithms;
    Eigen::VectorXd residuals;
    Eigen::VectorXd weights;  // below 1: a sample that fits badly counts less
    Eigen::VectorXd spread;   // standard errors of the logarithms: noise and prior together
};

// One column per number. Forward differences of 1 %.
Eigen::MatrixXd jacobian_at(const FitProblem& problem, const Eigen::VectorXd& logarithms,
                            const Eigen::VectorXd& residuals);

// From `start`; samples where `use` is zero do not count. The Jacobian, taken elsewhere, is kept: near the
// solution it hardly changes, and it is what costs.
FitResult fit_with(const FitProblem& problem, const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& start,
                   const Eigen::VectorXd& use);

// Takes the Jacobian anew until the solution stays.
FitResult fit(const FitProblem& problem, Eigen::MatrixXd& jacobian);

}  // namespace wirewise
