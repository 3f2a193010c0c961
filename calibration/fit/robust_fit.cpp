#include "calibration/fit/robust_fit.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <thread>

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace wirewise {

namespace {

constexpr double kHuber = 1.345;      // 95 % as efficient as least squares on normal noise
constexpr double kDifference = 0.01;  // of a logarithm
constexpr double kConverged = 1e-4;
constexpr int kMostSteps = 12, kMostJacobians = 4, kMostHalvings = 6;

double weight_of(double residual) {
    const double size = std::abs(residual);
    return size <= kHuber ? 1 : kHuber / size;
}

double huber(double residual) {
    const double size = std::abs(residual);
    return size <= kHuber ? 0.5 * size * size : kHuber * (size - 0.5 * kHuber);
}

double cost_of(const FitProblem& problem, const Eigen::VectorXd& at, const Eigen::VectorXd& residuals,
               const Eigen::VectorXd& use) {
    double cost = 0.5 * at.cwiseQuotient(problem.spread).squaredNorm();
    for (Eigen::Index i = 0; i < residuals.size(); ++i)
        cost += use(i) * huber(residuals(i) / problem.noise(i));
    return cost;
}

// Weighted normal equations, the prior on the diagonal.
struct Normal {
    Eigen::MatrixXd matrix;
    Eigen::VectorXd right;
};
Normal normal_equations(const FitProblem& problem, const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& at,
                        const Eigen::VectorXd& residuals, const Eigen::VectorXd& weights) {
    const Eigen::VectorXd scale = weights.cwiseQuotient(problem.noise.cwiseAbs2());
    const Eigen::VectorXd prior = problem.spread.cwiseAbs2().cwiseInverse();
    Normal normal;
    normal.matrix = jacobian.transpose() * scale.asDiagonal() * jacobian;
    normal.matrix.diagonal() += prior;
    normal.right = -(jacobian.transpose() * scale.cwiseProduct(residuals)) - prior.cwiseProduct(at);
    return normal;
}

Eigen::VectorXd weights_of(const FitProblem& problem, const Eigen::VectorXd& residuals,
                           const Eigen::VectorXd& use) {
    Eigen::VectorXd weights(residuals.size());
    for (Eigen::Index i = 0; i < residuals.size(); ++i)
        weights(i) = use(i) * weight_of(residuals(i) / problem.noise(i));
    return weights;
}

}  // namespace

Eigen::MatrixXd jacobian_at(const FitProblem& problem, const Eigen::VectorXd& logarithms,
                            const Eigen::VectorXd& residuals) {
    Eigen::MatrixXd jacobian(residuals.size(), logarithms.size());
    const auto columns = [&](Eigen::Index first, Eigen::Index stride) {
        for (Eigen::Index i = first; i < logarithms.size(); i += stride) {
            Eigen::VectorXd moved = logarithms;  // downwards: bounds are above
            moved(i) -= kDifference;
            jacobian.col(i) = (residuals - problem.residuals(moved)) / kDifference;
        }
    };
    const auto count = static_cast<Eigen::Index>(std::clamp(std::thread::hardware_concurrency(), 1U, 16U));
    std::vector<std::future<void>> workers;
    for (Eigen::Index worker = 1; worker < count; ++worker)
        workers.push_back(std::async(std::launch::async, columns, worker, count));
    columns(0, count);
    for (std::future<void>& worker : workers) worker.get();
    return jacobian;
}

FitResult fit_with(const FitProblem& problem, const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& start,
                   const Eigen::VectorXd& use) {
    FitResult result{start, problem.residuals(start), {}, {}};
    double cost = cost_of(problem, result.logarithms, result.residuals, use);
    for (int step = 0; step < kMostSteps; ++step) {
        result.weights = weights_of(problem, result.residuals, use);
        const Normal normal =
            normal_equations(problem, jacobian, result.logarithms, result.residuals, result.weights);
        Eigen::VectorXd move = normal.matrix.ldlt().solve(normal.right);
        bool better = false;
        for (int halving = 0; halving < kMostHalvings && !better; ++halving, move *= 0.5) {
            const Eigen::VectorXd at = (result.logarithms + move).cwiseMin(problem.most);
            const Eigen::VectorXd residuals = problem.residuals(at);
            const double now = cost_of(problem, at, residuals, use);
            better = now < cost;
            if (better) result.logarithms = at, result.residuals = residuals, cost = now;
        }
        if (!better || move.lpNorm<Eigen::Infinity>() < kConverged) break;
    }
    result.weights = weights_of(problem, result.residuals, use);
    const Normal normal =
        normal_equations(problem, jacobian, result.logarithms, result.residuals, result.weights);
    result.spread = normal.matrix.inverse().diagonal().cwiseMax(0).cwiseSqrt();
    return result;
}

FitResult fit(const FitProblem& problem, Eigen::MatrixXd& jacobian) {
    const Eigen::VectorXd all = Eigen::VectorXd::Ones(problem.noise.size());
    Eigen::VectorXd at = Eigen::VectorXd::Zero(problem.spread.size());
    FitResult result;
    for (int round = 0; round < kMostJacobians; ++round) {
        jacobian = jacobian_at(problem, at, problem.residuals(at));
        result = fit_with(problem, jacobian, at, all);
        const double moved = (result.logarithms - at).lpNorm<Eigen::Infinity>();
        at = result.logarithms;
        if (moved < 10 * kConverged) break;
    }
    return result;
}

}  // namespace wirewise
